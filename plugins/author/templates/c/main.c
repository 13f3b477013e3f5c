/* A tool for Parley boxes. */
#include "parley.h"

/* What it prints is what the assistant is told. */
int main(void) {
	char *parameters = parley_parameters();
	char *who = parley_string(parameters, "who");
	if (!who) return parley_fail("who is missing");
	printf("%s, %s.", parley_setting("greeting"), who);
	return 0;
}
