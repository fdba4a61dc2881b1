/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cli.h"

static pid_t child;

static void forward(int sig)
{
	if (child > 0)
		kill(child, sig);
}

/* Where execvp would find it. malloc'ed or NULL. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *copy, *save = NULL, *full = NULL;

	if (strchr(name, '/'))
		return strdup(name);
	copy = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	for (char *d = strtok_r(copy, ":", &save); d; d = strtok_r(NULL, ":", &save)) {
		if (asprintf(&full, "%s/%s", d, name) < 0)
			abort();
		if (!access(full, X_OK))
			break;
		free(full);
		full = NULL;
	}
	free(copy);
	/* bpftool lies in a folder that is not on every user's path. */
	if (!full && !strcmp(name, "bpftool") && !access("/usr/sbin/bpftool", X_OK))
		full = strdup("/usr/sbin/bpftool");
	return full;
}

/* A program without a dynamic linker never sees the shim: its calls would reach the host. */
static bool is_static_elf(const char *path)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;
	bool is_static = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, &e, sizeof(e)) == sizeof(e) && !memcmp(e.e_ident, ELFMAG, SELFMAG) &&
	    e.e_ident[EI_CLASS] == ELFCLASS64 && e.e_phentsize == sizeof(p)) {
		is_static = true;
		for (int i = 0; i < e.e_phnum; i++) {
			off_t at = (off_t)(e.e_phoff + (uint64_t)i * sizeof(p));

			if (pread(fd, &p, sizeof(p), at) == sizeof(p) && p.p_type == PT_INTERP)
				is_static = false;
		}
	}
	close(fd);
	return is_static;
}

static int set_environment(struct cli *cli)
{
	static char token_text[2 * IPC_TOKEN_LEN + 1];
	char shim[4200], preload[8192];
	const char *before = getenv("LD_PRELOAD");
	uint8_t token[IPC_TOKEN_LEN];
	struct broker_paths p;
	struct host_err err;
	int rc;

	snprintf(shim, sizeof(shim), "%s/barebpf-shim.so", cli_own_dir());
	if (access(shim, R_OK))
		return cli_fail("%s: %s; `make host` builds it", shim, strerror(errno));
	rc = broker_paths(&cli->target, &p, &err);
	if (rc)
		return cli_fail("%s", err.text);
	rc = broker_token_read(&p, token);
	if (rc)
		return cli_fail("%s: %s", p.token, strerror(-rc));
	for (int i = 0; i < IPC_TOKEN_LEN; i++)
		sprintf(token_text + 2 * i, "%02x", token[i]);
	snprintf(preload, sizeof(preload), "%s%s%s", shim, before && before[0] ? ":" : "",
		 before ? before : "");
	setenv("LD_PRELOAD", preload, 1);
	setenv(ENV_BROKER, p.socket, 1);
	setenv(ENV_TOKEN, token_text, 1);
	setenv("BAREBPF_TARGET", cli->target.name, 1);
	return CLI_OK;
}

static int wait_child(void)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cmd_exec(struct cli *cli, int argc, char **argv)
{
	struct ipc_hello hello;
	char *program;
	int first = argc > 1 && !strcmp(argv[1], "--") ? 2 : 1;
	int rc;

	if (first >= argc)
		return cli_usage("exec", "which command?");
	program = find_program(argv[first]);
	if (!program)
		return cli_fail("%s: not found", argv[first]);
	if (is_static_elf(program))
		return cli_fail("%s is statically linked: its system calls cannot be redirected. "
				"Link it dynamically",
				program);
	rc = cli_connect(cli, &hello);
	if (!rc)
		rc = set_environment(cli);
	if (rc)
		return rc;
	fflush(NULL);
	/* This process stays, as the broker stays while it is there. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, forward);
	signal(SIGHUP, forward);
	child = fork();
	if (child < 0)
		return cli_fail("fork: %s", strerror(errno));
	if (!child) {
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		execv(program, argv + first);
		cli_fail("%s: %s", program, strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	free(program);
	return wait_child();
}
