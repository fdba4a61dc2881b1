/* SPDX-License-Identifier: BSD-2-Clause */
/* Zero and sign extension of scalars. */
#include "bpf/verifier/scalar.h"

struct scalar scalar_zext(const struct scalar *a, unsigned int n)
{
	struct scalar r;
	ux keep;

	if (n >= VBITS)
		return *a;
	keep = (ux)(((ux)1 << n) - 1u);
	if (a->umax <= keep)
		return *a;
	if (n == VHALF) {
		r = scalar_half_zext(a);
	} else {
		r = scalar_unknown();
		r.t = tnum_zext(a->t, n);
		if ((ux)(a->umin & (ux)~keep) == (ux)(a->umax & (ux)~keep)) {
			r.umin = (ux)(a->umin & keep);
			r.umax = (ux)(a->umax & keep);
		} else if (n < VHALF && (uh)(a->humin & (uh)~keep) == (uh)(a->humax & (uh)~keep)) {
			r.umin = (ux)(a->humin & keep);
			r.umax = (ux)(a->humax & keep);
		}
	}
	return scalar_sync(&r) ? r : scalar_unknown();
}

struct scalar scalar_sext(const struct scalar *a, unsigned int n)
{
	struct scalar r, low;
	ux sign;

	if (n >= VBITS)
		return *a;
	sign = (ux)((ux)1 << (n - 1u));
	if (a->smin >= (sx)(ux) ~(ux)(sign - 1u) && a->smax < (sx)sign)
		return *a;
	r = scalar_unknown();
	r.t = tnum_sext(a->t, n);
	if (n == VHALF) {
		r.smin = (sx)a->hsmin;
		r.smax = (sx)a->hsmax;
	} else {
		low = scalar_zext(a, n);
		if (low.umax < sign) {
			r.umin = low.umin;
			r.umax = low.umax;
		} else if (low.umin >= sign) {
			r.smin = (sx)(ux)(low.umin - sign - sign);
			r.smax = (sx)(ux)(low.umax - sign - sign);
		} else {
			r.smin = (sx)(ux) ~(ux)(sign - 1u);
			r.smax = (sx)(sign - 1u);
		}
	}
	return scalar_sync(&r) ? r : scalar_unknown();
}

struct scalar scalar_sext_half(const struct scalar *a, unsigned int n)
{
	struct scalar r = scalar_sext(a, n);

	return scalar_zext(&r, VHALF);
}
