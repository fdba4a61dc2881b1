/* SPDX-License-Identifier: BSD-2-Clause */
/* Absolute symbols that linker.ld compares with its own constants. */
#include "mm/layout.h"

	.global layout_text_base, layout_data_base
	.set	layout_text_base, TEXT_BASE
	.set	layout_data_base, DATA_BASE
