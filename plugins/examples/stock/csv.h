/* csv.h: reads a table in the format of RFC 4180, with commas or semicolons. */
#ifndef CSV_H
#define CSV_H

enum { CSV_FIELDS = 32, CSV_LINE = 8192 };

struct csv {
	const char *at; /* position in the text, a C string */
	char separator;
	int count;
	char *field[CSV_FIELDS];
	char line[CSV_LINE]; /* the fields point into it */
};

/* csv_open starts reading the text. Its first line determines the separator. */
void csv_open(struct csv *c, const char *text);

/* csv_next reads the next line that is not empty. It returns 1, 0 at the end, or -1 if
 * the line is too long, has too many fields, or has an unclosed quote. */
int csv_next(struct csv *c);

#endif
