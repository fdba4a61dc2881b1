/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cli.h"
#include "host/qemu_args.h"

#define ARGS_MAX 96

struct args {
	char *v[ARGS_MAX + 1];
	unsigned int n;
};

static void __printf_like(2, 3) add(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (a->n == ARGS_MAX || vasprintf(&a->v[a->n++], fmt, ap) < 0)
		abort();
	va_end(ap);
	a->v[a->n] = NULL;
}

void qemu_args_free(char **argv)
{
	for (int i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* A file of the build, or say how to get it. *path is malloc'ed. */
static int need(const char *name, const char *how, char **path, struct host_err *err)
{
	*path = cli_build_path(name);
	if (!access(*path, R_OK))
		return 0;
	free(*path);
	*path = NULL;
	return host_fail(err, -ENOENT, "build/%s is missing: run `%s`", name, how);
}

static int image_path(const struct qemu_options *o, char **path, struct host_err *err)
{
	if (!o->image)
		return need("Image", "make image", path, err);
	if (access(o->image, R_OK))
		return host_fail(err, -errno, "%s: %s", o->image, strerror(errno));
	*path = strdup(o->image);
	return *path ? 0 : -ENOMEM;
}

static void add_common(struct args *a, const struct qemu_options *o, const struct qemu_board *b)
{
	add(a, "-display");
	add(a, "none");
	add(a, "-nic");
	add(a, "none");
	add(a, "-monitor");
	add(a, "none");
	add(a, "-qmp");
	add(a, "unix:%s/qmp.sock,server=on,wait=off", b->dir);
	/* The log has what the board says before anyone listens. */
	add(a, "-chardev");
	add(a, "socket,id=line,path=%s/serial.sock,server=on,wait=off,logfile=%s/console.log",
	    b->dir, b->dir);
	add(a, "-serial");
	add(a, "chardev:line");
	if (o->icount) {
		add(a, "-icount");
		add(a, "shift=0,sleep=off");
	}
	if (o->semihosting) {
		add(a, "-semihosting-config");
		add(a, "enable=on,target=native");
	}
	for (unsigned int i = 0; i < o->extra_nr; i++)
		add(a, "%s", o->extra[i]);
}

static void add_kernel(struct args *a, const struct qemu_options *o, const char *image)
{
	add(a, "-kernel");
	add(a, "%s", image);
	if (o->append) {
		add(a, "-append");
		add(a, "%s", o->append);
	}
	if (o->bundle) {
		add(a, "-initrd");
		add(a, "%s", o->bundle);
	}
}

static int virt_args(struct args *a, const struct qemu_options *o, const struct qemu_board *b,
		     struct host_err *err)
{
	char *image = NULL, *bios = NULL, *disk = NULL;
	int rc = 0;

	if (o->tfa)
		return host_fail(err, -EINVAL, "--tfa is for --board raspi4b");
	add(a, "-M");
	add(a, "virt,dtb-randomness=off,virtualization=%s,gic-version=%s", o->el1 ? "off" : "on",
	    o->gic ? o->gic : "2");
	add(a, "-cpu");
	add(a, "%s", o->cpu ? o->cpu : "cortex-a72");
	add(a, "-smp");
	add(a, "%u", o->smp ? o->smp : 4);
	add(a, "-m");
	add(a, "%u", o->mem_mb ? o->mem_mb : 512);
	add_common(a, o, b);
	if (o->u_boot) {
		rc = need("deps/u-boot/virt.bin", "make setup", &bios, err);
		if (!rc)
			rc = need("disk.img", "make disk", &disk, err);
		if (!rc) {
			add(a, "-bios");
			add(a, "%s", bios);
			add(a, "-drive");
			add(a, "file=%s,format=raw,if=none,id=d0,snapshot=on", disk);
			add(a, "-device");
			add(a, "virtio-blk-device,drive=d0");
		}
	} else {
		rc = image_path(o, &image, err);
		if (!rc)
			add_kernel(a, o, image);
	}
	free(image);
	free(bios);
	free(disk);
	return rc;
}

/* ---- Pi 4 ---- */

static int run(char *const *argv, struct host_err *err)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return host_fail(err, -EAGAIN, "%s: %s", argv[0], strerror(errno));
	if (status)
		return host_fail(err, -EIO, "%s failed (%d)", argv[0], WEXITSTATUS(status));
	return 0;
}

/* tools/mktfa.sh puts together what the Pi's firmware would, and says how QEMU loads it. */
static int add_tfa(struct args *a, const struct qemu_options *o, const struct qemu_board *b,
		   char *image, struct host_err *err)
{
	char dir[256], list[300], line[1024];
	char *script;
	int rc = need("../tools/mktfa.sh", "git checkout tools", &script, err);
	FILE *f;

	if (rc)
		return rc;
	snprintf(dir, sizeof(dir), "%s", b->dir);
	char *argv[] = {
		script, dir, image, (char *)(o->append ? o->append : ""), (char *)o->bundle, NULL
	};
	rc = run(argv, err);
	free(script);
	if (rc)
		return rc;
	snprintf(list, sizeof(list), "%s/qemu.args", dir);
	f = fopen(list, "r");
	if (!f)
		return host_fail(err, -errno, "%s: %s", list, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		add(a, "%s", line);
	}
	fclose(f);
	return 0;
}

static int add_u_boot_rpi(struct args *a, struct host_err *err)
{
	char *u_boot = NULL, *disk = NULL;
	int rc = need("deps/u-boot/rpi4.bin", "make setup", &u_boot, err);

	if (!rc)
		rc = need("disk.img", "make disk", &disk, err);
	if (!rc) {
		add(a, "-kernel");
		add(a, "%s", u_boot);
		add(a, "-drive");
		add(a, "file=%s,format=raw,if=sd,snapshot=on", disk);
	}
	free(u_boot);
	free(disk);
	return rc;
}

static int raspi_args(struct args *a, const struct qemu_options *o, const struct qemu_board *b,
		      struct host_err *err)
{
	char *image = NULL, *tree = NULL;
	int rc;

	if ((o->smp && o->smp != 4) || (o->mem_mb && o->mem_mb != 2048) || o->cpu || o->gic)
		return host_fail(err, -EINVAL,
				 "QEMU's raspi4b has 4 Cortex-A72, 2048 MB and a GIC-400: leave "
				 "out --cpu, --smp, --mem and --gic");
	if (!o->tfa) {
		add(a, "-M");
		add(a, "raspi4b");
	}
	add_common(a, o, b);
	add(a, "-serial");
	add(a, "file:%s/uart2.log", b->dir);
	rc = need("deps/dtb/bcm2711-rpi-4-b.dtb", "make setup", &tree, err);
	if (!rc)
		rc = image_path(o, &image, err);
	if (!rc && o->tfa) {
		rc = add_tfa(a, o, b, image, err);
	} else if (!rc) {
		add(a, "-dtb");
		add(a, "%s", tree);
		if (o->u_boot)
			rc = add_u_boot_rpi(a, err);
		else
			add_kernel(a, o, image);
	}
	free(image);
	free(tree);
	return rc;
}

static const struct {
	const char *name;
	int (*args)(struct args *a, const struct qemu_options *o, const struct qemu_board *b,
		    struct host_err *err);
} machines[] = {
	{ "virt", virt_args },
	{ "raspi4b", raspi_args },
};

int qemu_args(const struct qemu_options *o, const struct qemu_board *b, char ***argv,
	      struct host_err *err)
{
	struct args a = { .n = 0 };
	char **copy;
	int rc = -EINVAL;

	if (o->u_boot && o->tfa)
		return host_fail(err, -EINVAL, "--u-boot and --tfa exclude each other");
	add(&a, "qemu-system-aarch64");
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (strcmp(machines[i].name, o->board))
			continue;
		rc = machines[i].args(&a, o, b, err);
		break;
	}
	if (rc == -EINVAL && !err->text[0])
		host_fail(err, rc, "there is no board '%s': virt or raspi4b", o->board);
	copy = rc ? NULL : calloc(a.n + 1, sizeof(*copy));
	if (copy) {
		memcpy(copy, a.v, a.n * sizeof(*copy));
		*argv = copy;
		return 0;
	}
	for (unsigned int i = 0; i < a.n; i++)
		free(a.v[i]);
	return rc ? rc : -ENOMEM;
}
