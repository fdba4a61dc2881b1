/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/console.h"

#include <string.h>

#include "include/err.h"
#include "include/hal.h"
#include "kernel/commands.h"
#include "kernel/load.h"
#include "kernel/serial.h"
#include "lib/fmt.h"

#define LINE_MAX      256
#define HISTORY_LINES 8
#define PRINT_MAX     512

static const char prompt[] = "barebpf> ";

/* Bytes after ESC [ or ESC O, as far as they mean anything here. */
enum escape { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_CSI };

static struct {
	struct rt *rt;
	console_replay_fn replay;
	char line[LINE_MAX];
	size_t len;
	bool prompted; /* the prompt is on the screen */
	bool after_cr; /* a LF right now belongs to it */
	enum escape escape;
	/* Ring of lines; history_at is the one shown, history_next when none is. */
	char history[HISTORY_LINES][LINE_MAX];
	unsigned int history_next;
	unsigned int history_at;
} console;

static const struct console_command commands[] = {
#define COMMAND(id, arguments, text)                                                               \
	{ .name = #id, .usage = arguments, .help = text, .run = command_##id },
#include "kernel/commands.def"
#undef COMMAND
};

const struct console_command *console_get_command(unsigned int i)
{
	return i < ARRAY_SIZE(commands) ? &commands[i] : NULL;
}

struct rt *console_get_rt(void)
{
	return console.rt;
}

console_replay_fn console_get_replay(void)
{
	return console.replay;
}

void console_printf(const char *fmt, ...)
{
	char text[PRINT_MAX];
	__builtin_va_list ap;
	int len;

	__builtin_va_start(ap, fmt);
	len = fmt_vsnprintf(text, sizeof(text), fmt, ap);
	__builtin_va_end(ap);
	serial_put_text(text, MIN((size_t)len, sizeof(text) - 1));
}

static void put(const char *text)
{
	serial_put_text(text, strlen(text));
}

static void show_prompt(void)
{
	put(prompt);
	console.prompted = true;
}

/* Words of the line in place; -E2BIG for too many. */
static int split_words(char *line, char **argv)
{
	int argc = 0;

	for (;;) {
		while (*line == ' ' || *line == '\t')
			*line++ = '\0';
		if (!*line)
			return argc;
		if (argc == CONSOLE_ARGS_MAX)
			return -E2BIG;
		argv[argc++] = line;
		while (*line && *line != ' ' && *line != '\t')
			line++;
	}
}

static void run_line(char *line)
{
	char *argv[CONSOLE_ARGS_MAX + 1] = { NULL };
	int argc = split_words(line, argv);

	if (argc == 0)
		return;
	if (argc < 0) {
		console_printf("more than %d words\n", CONSOLE_ARGS_MAX);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name) != 0)
			continue;
		if (commands[i].run(argc, argv) == -EINVAL)
			console_printf("usage: %s %s\n", commands[i].name, commands[i].usage);
		return;
	}
	console_printf("%.64s: no such command (try help)\n", argv[0]);
}

static void remember_line(void)
{
	char *last = console.history[(console.history_next + HISTORY_LINES - 1) % HISTORY_LINES];

	if (console.len && strcmp(last, console.line) != 0) {
		memcpy(console.history[console.history_next % HISTORY_LINES], console.line,
		       console.len + 1);
		console.history_next++;
	}
	console.history_at = console.history_next;
}

/* Take n characters off the end, on the screen too. */
static void erase(size_t n)
{
	for (; n && console.len; n--) {
		console.len--;
		put("\b \b");
	}
}

static void erase_word(void)
{
	while (console.len && console.line[console.len - 1] == ' ')
		erase(1);
	while (console.len && console.line[console.len - 1] != ' ')
		erase(1);
}

static void end_line(void)
{
	put("\n");
	console.line[console.len] = '\0';
	remember_line();
	console.prompted = false;
	run_line(console.line);
	console.len = 0;
	if (!load_is_active())
		show_prompt();
}

static void cancel_line(void)
{
	put("^C\n");
	console.len = 0;
	console.history_at = console.history_next;
	show_prompt();
}

/* Go step lines through the history and show that line. */
static void show_history(int step)
{
	unsigned int oldest =
		console.history_next < HISTORY_LINES ? 0 : console.history_next - HISTORY_LINES;
	unsigned int at = console.history_at + (unsigned int)step;

	/* at wraps to a large number below 0, which is above history_next. */
	if (at < oldest || at > console.history_next)
		return;
	erase(console.len);
	console.history_at = at;
	if (at < console.history_next) {
		console.len = strlen(console.history[at % HISTORY_LINES]);
		memcpy(console.line, console.history[at % HISTORY_LINES], console.len);
	}
	serial_put_text(console.line, console.len);
}

static void complete_command(void)
{
	const char *match = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!console.len || strncmp(commands[i].name, console.line, console.len) != 0)
			continue;
		if (match)
			return;
		match = commands[i].name;
	}
	if (!match)
		return;
	put(match + console.len);
	console.len = strlen(match);
	memcpy(console.line, match, console.len);
}

/* True if the byte was part of an escape sequence. */
static bool take_escape(uint8_t byte)
{
	switch (console.escape) {
	case ESCAPE_NONE:
		if (byte != 0x1b)
			return false;
		console.escape = ESCAPE_BEGUN;
		return true;
	case ESCAPE_BEGUN:
		console.escape = byte == '[' || byte == 'O' ? ESCAPE_CSI : ESCAPE_NONE;
		return true;
	default:
		/* Parameters, then a final byte. */
		if (byte < 0x40 || byte > 0x7e)
			return true;
		console.escape = ESCAPE_NONE;
		if (byte == 'A')
			show_history(-1);
		else if (byte == 'B')
			show_history(1);
		return true;
	}
}

static void take_char(uint8_t byte)
{
	char c = (char)byte;

	if (console.len + 1 >= LINE_MAX) {
		put("\a");
		return;
	}
	console.line[console.len++] = c;
	serial_put_text(&c, 1);
}

static void take_byte(uint8_t byte)
{
	bool after_cr = console.after_cr;

	console.after_cr = byte == '\r';
	if (byte == '\n' && after_cr)
		return;
	if (!console.prompted)
		show_prompt();
	if (take_escape(byte))
		return;
	switch (byte) {
	case '\r':
	case '\n':
		end_line();
		break;
	case 3: /* ctrl-C */
		cancel_line();
		break;
	case 8: /* backspace, as some terminals send it */
	case 127:
		erase(1);
		break;
	case '\t':
		complete_command();
		break;
	case 21: /* ctrl-U */
		erase(console.len);
		break;
	case 23: /* ctrl-W */
		erase_word();
		break;
	default:
		/* Text is UTF-8: its bytes from 0x80 on are echoed as they come. */
		if (byte >= ' ')
			take_char(byte);
		break;
	}
}

static void end_load(void)
{
	if (!load_is_active())
		show_prompt();
}

void console_rx(const uint8_t *bytes, size_t n)
{
	while (n) {
		size_t used = 1;

		if (load_is_active()) {
			used = load_rx(bytes, n, hal_ktime_ns());
			end_load();
		} else {
			take_byte(*bytes);
		}
		bytes += used;
		n -= used;
	}
}

bool console_is_raw(void)
{
	return load_is_active();
}

uint64_t console_poll(uint64_t now_ns)
{
	uint64_t next;

	if (!load_is_active())
		return UINT64_MAX;
	next = load_poll(now_ns);
	end_load();
	return next;
}

int console_begin_load(void)
{
	return load_begin(hal_ktime_ns());
}

void console_init(struct rt *rt, console_replay_fn replay)
{
	console.rt = rt;
	console.replay = replay;
}
