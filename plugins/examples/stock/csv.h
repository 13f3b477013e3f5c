/* csv.h: reads a table, as in RFC 4180, with commas or semicolons. */
#ifndef CSV_H
#define CSV_H

enum { CSV_FIELDS = 32, CSV_LINE = 8192 };

struct csv {
	const char *at; /* in the whole text, which ends with a zero */
	char separator;
	int count;
	char *field[CSV_FIELDS];
	char line[CSV_LINE]; /* what the fields point into */
};

/* csv_open begins with the text, whose first line tells what separates fields. */
void csv_open(struct csv *c, const char *text);

/* csv_next reads the next line that is not empty: 1, or 0 at the end, or -1 where
 * it has more fields or is longer than fit, or a quote is not closed. */
int csv_next(struct csv *c);

#endif
