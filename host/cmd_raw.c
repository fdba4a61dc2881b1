/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw: the plugin protocol of bpf_conformance. Memory in hex as the last argument (or --mem), the
 * program in hex on standard input, R0 in hex on standard output. Spaces between bytes are allowed.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli.h"

static int hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of a hex text; malloc'ed. */
static int parse_hex(const char *what, const char *text, size_t len, uint8_t **out, size_t *n)
{
	uint8_t *bytes = malloc(len / 2 + 1);
	size_t digits = 0;

	if (!bytes)
		return cli_fail("out of memory");
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit((unsigned char)text[i]);

		if (isspace((unsigned char)text[i]))
			continue;
		if (d < 0) {
			free(bytes);
			return cli_fail("%s: '%c' is no hex digit", what, text[i]);
		}
		if (digits % 2)
			bytes[digits / 2] |= (uint8_t)d;
		else
			bytes[digits / 2] = (uint8_t)(d << 4);
		digits++;
	}
	if (digits % 2) {
		free(bytes);
		return cli_fail("%s: an odd number of hex digits", what);
	}
	*out = bytes;
	*n = digits / 2;
	return CLI_OK;
}

struct raw {
	const char *mem_text;
	uint32_t mode;
	uint64_t repeat;
};

static int parse_options(struct raw *r, int argc, char **argv)
{
	static const struct option options[] = { { "mem", required_argument, NULL, 'm' },
						 { "mode", required_argument, NULL, 'M' },
						 { "repeat", required_argument, NULL, 'r' },
						 { 0 } };
	static const char *const modes[] = { "interp", "jit", "checked" };
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'm':
			r->mem_text = optarg;
			break;
		case 'M':
			for (r->mode = 0; r->mode < ARRAY_SIZE(modes); r->mode++)
				if (!strcmp(modes[r->mode], optarg))
					break;
			if (r->mode == ARRAY_SIZE(modes))
				return cli_usage("raw", "--mode: interp, jit or checked");
			break;
		case 'r':
			if (cli_number("--repeat", optarg, 1, UINT32_MAX, &r->repeat))
				return CLI_USAGE;
			break;
		default:
			return cli_usage("raw", "unknown option");
		}
	}
	if (argc - optind > 1)
		return cli_usage("raw", "'%s' is not understood", argv[optind + 1]);
	if (optind < argc)
		r->mem_text = argv[optind];
	return CLI_OK;
}

static int run(struct cli *cli, const struct raw *r, const uint8_t *insns, size_t insns_len,
	       uint8_t *mem, size_t mem_len)
{
	union board_attr a = { .raw = { .insns = (uintptr_t)insns,
					.insn_cnt = (uint32_t)(insns_len / 8),
					.mode = r->mode,
					.mem = mem_len ? (uintptr_t)mem : 0,
					.mem_len = (uint32_t)mem_len,
					.repeat = (uint32_t)r->repeat } };
	struct json j;
	long rc = client_bpf(BOARD_RAW_RUN, &a, sizeof(a.raw));
	char ret[24];

	if (rc == -EPERM)
		return cli_fail("the board runs no unverified bytecode: `barebpf knob set "
				"bpf.unverified 1` allows it");
	if (rc)
		return cli_fail("raw: %s", rc == -EINVAL   ? "not a valid program"
					   : rc == -EFAULT ? "the program faulted"
							   : cli_errno(rc));
	snprintf(ret, sizeof(ret), "%" PRIx64, (uint64_t)a.raw.ret);
	if (!cli->json) {
		printf("%s\n", ret);
		return CLI_OK;
	}
	json_open(&j, stdout);
	json_object(&j, NULL);
	json_string(&j, "r0", ret);
	json_uint(&j, "run_ns", a.raw.run_ns);
	json_uint(&j, "insns_retired", a.raw.insns_retired);
	json_end(&j);
	json_close(&j);
	return CLI_OK;
}

int cmd_raw(struct cli *cli, int argc, char **argv)
{
	struct raw r = { .mem_text = "", .repeat = 1 };
	uint8_t *text, *insns = NULL, *mem = NULL;
	size_t text_len, insns_len, mem_len;
	struct ipc_hello hello;
	int rc = parse_options(&r, argc, argv);

	if (rc)
		return rc;
	rc = cli_read_file("-", &text, &text_len);
	if (rc)
		return rc;
	rc = parse_hex("program", (char *)text, text_len, &insns, &insns_len);
	if (!rc)
		rc = parse_hex("memory", r.mem_text, strlen(r.mem_text), &mem, &mem_len);
	if (!rc && (!insns_len || insns_len % 8))
		rc = cli_fail("program: %zu bytes are no whole number of instructions", insns_len);
	if (!rc)
		rc = cli_connect(cli, &hello);
	if (!rc)
		rc = run(cli, &r, insns, insns_len, mem, mem_len);
	free(text);
	free(insns);
	free(mem);
	return rc;
}
