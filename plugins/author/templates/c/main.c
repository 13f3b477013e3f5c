/* A tool for Parley boxes. */
#include "parley.h"

/* Prints the answer for the assistant. */
int main(void) {
	char *parameters = parley_parameters();
	char *who = parley_string(parameters, "who");
	if (!who) return parley_fail("who is missing");
	printf("%s, %s.", parley_setting("greeting"), who);
	return 0;
}
