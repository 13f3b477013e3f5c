/* A tool for Parley boxes: it looks up what a shop has in stock. */
#include "csv.h"
#include "parley.h"

enum { MOST_FOUND = 3, MOST_BYTES = 8 << 20 };

struct article {
	char name[200], place[200];
	double quantity, price;
	int has_price;
};

/* small converts A to Z to lower case. */
static void small(char *text) {
	for (; *text; text++) *text = (char)tolower((unsigned char)*text);
}

/* has_word reports whether a name contains a word, in the singular or the plural. */
static int has_word(const char *name, const char *word, size_t length) {
	if (length > 3 && word[length - 1] == 's') length--;
	for (const char *at = name; *at;) {
		size_t n = strcspn(at, " -/(),");
		size_t stem = n > 3 && at[n - 1] == 's' ? n - 1 : n;
		if (stem == length && !memcmp(at, word, length)) return 1;
		at += n;
		at += strspn(at, " -/(),");
	}
	return 0;
}

/* fits reports whether a name contains all requested words. */
static int fits(const char *name, const char *asked) {
	static const char *const empty[] = {"a", "an", "the", "any", "some", "of", "with", "in"};
	int words = 0;
	for (const char *at = asked; *at;) {
		size_t n = strcspn(at, " -/(),.?!"), i = 0;
		for (; i < sizeof empty / sizeof *empty; i++)
			if (strlen(empty[i]) == n && !memcmp(at, empty[i], n)) break;
		if (n && i == sizeof empty / sizeof *empty) {
			if (!has_word(name, at, n)) return 0;
			words++;
		}
		at += n;
		at += strspn(at, " -/(),.?!");
	}
	return words > 0;
}

/* whole returns a file as a C string, or reports the error and returns NULL. */
static char *whole(const char *name) {
	char path[300];
	snprintf(path, sizeof path, "/stock/%s", name);
	FILE *f = fopen(path, "rb");
	if (!f) {
		parley_fail("there is no file %s in the folder of the stock", name);
		return NULL;
	}
	char *text = parley_memory(MOST_BYTES + 1);
	size_t length = fread(text, 1, MOST_BYTES + 1, f);
	fclose(f);
	if (length > MOST_BYTES) {
		parley_fail("%s is larger than %d MB", name, MOST_BYTES >> 20);
		return NULL;
	}
	text[length] = 0;
	return text;
}

/* column returns the index of the column with a name in the first line, or -1. */
static int column(struct csv *c, const char *name) {
	for (int i = 0; i < c->count; i++) {
		small(c->field[i]);
		if (!strcmp(c->field[i], name)) return i;
	}
	return -1;
}

/* decimal parses a number with a decimal point or comma. */
static int decimal(char *text, double *number) {
	char *end, *comma = strchr(text, ',');
	if (comma) *comma = '.';
	*number = strtod(text, &end);
	while (isspace((unsigned char)*end)) end++;
	return end > text && !*end;
}

/* search fills found with matching articles, and returns the number of all matches;
 * if that is negative, it has reported an error in the file. */
static int search(const char *file, const char *text, const char *asked, struct article *found) {
	static struct csv c;
	csv_open(&c, text);
	if (csv_next(&c) != 1) return -parley_fail("%s is empty", file);
	int name = column(&c, "name"), quantity = column(&c, "quantity"), price = column(&c, "price"), place = column(&c, "place");
	if (name < 0 || quantity < 0) return -parley_fail("the first line of %s has no column name, or none that is called quantity", file);
	int count = 0, more;
	for (int line = 2; (more = csv_next(&c)) == 1; line++) {
		char lower[200];
		if (c.count <= name || c.count <= quantity) return -parley_fail("%s: article %d has too few fields", file, line - 1);
		snprintf(lower, sizeof lower, "%s", c.field[name]);
		small(lower);
		if (!fits(lower, asked)) continue;
		struct article *a = &found[count < MOST_FOUND ? count : MOST_FOUND - 1];
		if (count++ >= MOST_FOUND) continue;
		snprintf(a->name, sizeof a->name, "%s", c.field[name]);
		snprintf(a->place, sizeof a->place, "%s", place >= 0 && place < c.count ? c.field[place] : "");
		if (!decimal(c.field[quantity], &a->quantity)) return -parley_fail("%s: the quantity of %s is no number", file, a->name);
		a->has_price = price >= 0 && price < c.count && decimal(c.field[price], &a->price);
	}
	if (more < 0) return -parley_fail("%s: a line is longer than %d bytes, has more than %d fields, or a quote that is not closed", file, CSV_LINE, CSV_FIELDS);
	return count;
}

/* tell prints a sentence about one article. */
static void tell(const struct article *a) {
	if (a->quantity <= 0) {
		printf("%s is sold out", a->name);
	} else {
		printf("%s: %g in stock", a->name, a->quantity);
		if (*a->place) printf(", %s", a->place);
	}
	const char *currency = parley_setting("currency");
	if (a->has_price && a->price == (long)a->price) printf(", %ld %s", (long)a->price, currency);
	else if (a->has_price) printf(", %.2f %s", a->price, currency);
	printf(".");
}

int main(void) {
	char *asked = parley_string(parley_parameters(), "article");
	if (!asked || !*asked) return parley_fail("article is missing");
	const char *file = parley_setting("file");
	if (!file || strchr(file, '/')) return parley_fail("the setting file has to be the name of a file in the folder of the stock");
	char *text = whole(file);
	if (!text) return 1;
	small(asked);
	static struct article found[MOST_FOUND];
	int count = search(file, text, asked, found);
	if (count < 0) return 1;
	if (count == 0) printf("The shop has nothing that is called %s.", asked);
	if (count > MOST_FOUND) printf("There are %d articles like that. The first three: ", count);
	for (int i = 0; i < count && i < MOST_FOUND; i++) {
		if (i) printf(" ");
		tell(&found[i]);
	}
	return 0;
}
