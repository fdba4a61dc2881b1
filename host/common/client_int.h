/* SPDX-License-Identifier: BSD-2-Clause */
/* Between client.c and client_bpf.c. */
#pragma once

#include "host/common/client.h"

/* Say the reason once on stderr: the program itself only gets an errno. */
void client_explain(const char *text, size_t len);
/* One request to the broker: 0 with *head and the payload in *rep, -EIO or -ENOMEM. */
int client_request(const struct ipc_req *req, const void *payload, struct ipc_rep *head,
		   struct wire_buf *rep, int *fd) __must_check;
/* What is known of the board; again: what is known is out of date. */
int client_hello_get(struct ipc_hello *hello, bool again) __must_check;
/* NULL: a broker serves. */
const struct client_backend *client_backend(void);
bool client_wants_progress(void);
