#include "csv.h"

#include <string.h>

void csv_open(struct csv *c, const char *text) {
	static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of spreadsheets */
	if (!strncmp(text, mark, 3)) text += 3;
	size_t line = strcspn(text, "\r\n");
	const char *semicolon = memchr(text, ';', line), *comma = memchr(text, ',', line);
	c->at = text;
	c->separator = semicolon && (!comma || semicolon < comma) ? ';' : ',';
}

/* quoted reads a quoted field; two quotes stand for one. */
static char *quoted(struct csv *c, char *to, const char *end) {
	for (c->at++; *c->at && to < end; c->at++) {
		if (*c->at == '"' && *++c->at != '"') return to;
		*to++ = *c->at;
	}
	return NULL;
}

int csv_next(struct csv *c) {
	char *to = c->line;
	const char *end = c->line + CSV_LINE - 1;
	while (*c->at == '\r' || *c->at == '\n') c->at++;
	if (!*c->at) return 0;
	for (c->count = 0; c->count < CSV_FIELDS; c->at++) {
		c->field[c->count++] = to;
		if (*c->at == '"' && !(to = quoted(c, to, end))) return -1;
		while (*c->at && !strchr("\r\n", *c->at) && *c->at != c->separator) {
			if (to >= end) return -1;
			*to++ = *c->at++;
		}
		if (to >= end) return -1;
		*to++ = 0;
		if (*c->at != c->separator) return 1;
	}
	return -1;
}
