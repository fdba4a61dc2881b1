/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions behind kernel/commands.def; see struct console_command. */
#pragma once

#define COMMAND(id, arguments, text) int command_##id(int argc, char **argv);
#include "kernel/commands.def"
#undef COMMAND
