/* parley.h: for tools in C that a Parley box runs. All of it is in this file.
 *
 * A tool is a program: its first argument is the tool's name, its standard input
 * has the parameters as a JSON object, and its standard output is the answer for
 * the assistant. It returns 0, or parley_fail("the reason").
 *
 *     int main(int argc, char **argv) {
 *         char *parameters = parley_parameters();
 *         char *item = parley_string(parameters, "item");
 *         if (!item) return parley_fail("item is missing");
 *         printf("There are five of %s left.", item);
 *         return 0;
 *     }
 *
 * No memory needs to be freed: the program ends with the call.
 */
#ifndef PARLEY_H
#define PARLEY_H

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of the box, as docs/plugins/abi.md describes them. */
#define PARLEY_HOST(name) __attribute__((import_module("parley"), import_name(name)))
uint32_t parley_host_answer(void *to, uint32_t length) PARLEY_HOST("answer");
int32_t parley_host_http(const char *request, uint32_t request_length, const void *body, uint32_t body_length) PARLEY_HOST("http");
int32_t parley_host_kv_get(const char *key, uint32_t length) PARLEY_HOST("kv_get");
int32_t parley_host_kv_set(const char *key, uint32_t key_length, const void *value, uint32_t value_length) PARLEY_HOST("kv_set");
int32_t parley_host_kv_delete(const char *key, uint32_t length) PARLEY_HOST("kv_delete");
int32_t parley_host_kv_keys(const char *prefix, uint32_t length) PARLEY_HOST("kv_keys");
int32_t parley_host_conversation(void) PARLEY_HOST("conversation");

#define PARLEY_MAYBE_UNUSED static __attribute__((unused))

/* parley_fail reports an error, formatted as by printf, and returns the exit code for
 * it. The message is one line: the last of standard error. */
PARLEY_MAYBE_UNUSED __attribute__((format(printf, 1, 2))) int parley_fail(const char *format, ...) {
	va_list values;
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
	return 1;
}

PARLEY_MAYBE_UNUSED void *parley_memory(size_t size) {
	void *p = malloc(size);
	if (!p) exit(parley_fail("out of memory: permissions.memory of plugin.yaml bounds it"));
	return p;
}

/* parley_parameters returns the parameters: a JSON object, as a C string. */
PARLEY_MAYBE_UNUSED char *parley_parameters(void) {
	size_t length = 0, room = 4096, n;
	char *text = parley_memory(room);
	while ((n = fread(text + length, 1, room - length - 1, stdin)) > 0) {
		length += n;
		if (room - length < 2) {
			char *more = parley_memory(room *= 2);
			memcpy(more, text, length);
			text = more;
		}
	}
	text[length] = 0;
	return text;
}

/* parley_skip returns the position after the JSON value at p, or NULL if there is no
 * value. Values with more than 64 levels of nesting are not accepted. */
PARLEY_MAYBE_UNUSED const char *parley_skip(const char *p, int levels) {
	while (isspace((unsigned char)*p)) p++;
	if (*p == '"') {
		for (p++; *p && *p != '"'; p++)
			if (*p == '\\' && p[1]) p++;
		return *p ? p + 1 : NULL;
	}
	if (*p != '{' && *p != '[') {
		const char *begin = p;
		while (*p && !strchr(",:]} \t\r\n", *p)) p++;
		return p > begin ? p : NULL;
	}
	if (levels >= 64) return NULL;
	for (char close = *p++ == '{' ? '}' : ']'; *p != close; p++) {
		if (*p == ',' || *p == ':' || isspace((unsigned char)*p)) continue;
		if (!(p = parley_skip(p, levels + 1))) return NULL;
		p--;
	}
	return p + 1;
}

/* parley_value returns the position of the value of a member of a JSON object, or
 * NULL if there is no such member, or no object. */
PARLEY_MAYBE_UNUSED const char *parley_value(const char *object, const char *name) {
	const char *p = object, *end;
	while (isspace((unsigned char)*p)) p++;
	if (*p++ != '{') return NULL;
	for (;;) {
		while (isspace((unsigned char)*p) || *p == ',') p++;
		if (*p != '"' || !(end = parley_skip(p, 0))) return NULL;
		int here = (size_t)(end - p) == strlen(name) + 2 && !strncmp(p + 1, name, strlen(name));
		for (p = end; isspace((unsigned char)*p); p++) {}
		if (*p++ != ':') return NULL;
		while (isspace((unsigned char)*p)) p++;
		if (here) return p;
		if (!(p = parley_skip(p, 0))) return NULL;
	}
}

/* parley_utf8 writes a character and returns the position after it. */
PARLEY_MAYBE_UNUSED char *parley_utf8(char *to, uint32_t c) {
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	*to++ = (char)(more ? (0xff00 >> (more + 1) & 0xff) | c >> 6 * more : c);
	while (more--) *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return to;
}

PARLEY_MAYBE_UNUSED uint32_t parley_hex(const char *p) {
	uint32_t c = 0;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)p[i])) return 0xfffd;
		c = c << 4 | (uint32_t)(isdigit((unsigned char)p[i]) ? p[i] - '0' : (p[i] | 32) - 'a' + 10);
	}
	return c;
}

/* parley_string returns a string member of a JSON object, without quotes and escapes,
 * or NULL if there is no such member, or it is no string. */
PARLEY_MAYBE_UNUSED char *parley_string(const char *object, const char *name) {
	const char *p = parley_value(object, name), *end = p && *p == '"' ? parley_skip(p, 0) : NULL;
	if (!end) return NULL;
	char *text = parley_memory((size_t)(end - p) * 3), *to = text;
	for (p++; p < end - 1; p++) {
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		static const char escapes[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
		const char *e = strchr(escapes, *++p);
		if (e) {
			*to++ = means[e - escapes];
		} else if (*p == 'u' && end - p > 5) {
			uint32_t c = parley_hex(p + 1);
			p += 4;
			if (c >= 0xd800 && c < 0xdc00 && end - p > 7 && p[1] == '\\' && p[2] == 'u') {
				uint32_t low = parley_hex(p + 3);
				if (low >= 0xdc00 && low < 0xe000) {
					c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
					p += 6;
				}
			}
			to = parley_utf8(to, !c || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
		}
	}
	*to = 0;
	return text;
}

/* parley_number reads a number member of a JSON object. It returns 1, or 0 if there is
 * no such member, or it is no number. */
PARLEY_MAYBE_UNUSED int parley_number(const char *object, const char *name, double *number) {
	const char *p = parley_value(object, name);
	if (!p || (*p != '-' && !isdigit((unsigned char)*p))) return 0;
	*number = strtod(p, NULL);
	return 1;
}

/* parley_environment returns a variable, or NULL if it is not set or empty. */
PARLEY_MAYBE_UNUSED const char *parley_environment(const char *name) {
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

/* parley_setting returns a setting of the plugin by its name in the manifest, or NULL
 * if it has neither a value nor a default. */
PARLEY_MAYBE_UNUSED const char *parley_setting(const char *name) {
	char variable[80] = "SETTING_";
	size_t n = strlen(variable);
	for (; *name && n < sizeof variable - 1; name++) variable[n++] = (char)toupper((unsigned char)*name);
	variable[n] = 0;
	return parley_environment(variable);
}

/* parley_time returns the time of the call in the time zone of the box, such as
 * 2026-03-02T10:00:00+01:00. */
PARLEY_MAYBE_UNUSED const char *parley_time(void) { return parley_environment("PARLEY_TIME"); }

/* parley_caller returns an opaque id of the caller, which is the same in the caller's
 * next chat, or NULL if the caller is unknown. */
PARLEY_MAYBE_UNUSED const char *parley_caller(void) { return parley_environment("PARLEY_CALLER"); }

/* parley_answer returns the answer that the last host function left besides its
 * number, as a C string. */
PARLEY_MAYBE_UNUSED char *parley_answer(size_t *length) {
	uint32_t n = parley_host_answer(NULL, 0);
	char *text = parley_memory((size_t)n + 1);
	parley_host_answer(text, n);
	text[n] = 0;
	if (length) *length = n;
	return text;
}

/* parley_http makes the request that a JSON object describes (method, url,
 * headers), with a body of length bytes. It returns the status of the response, and
 * parley_answer() is its body. A negative number means no response, and
 * parley_answer() is the reason. */
PARLEY_MAYBE_UNUSED int parley_http(const char *request, const void *body, size_t length) {
	return parley_host_http(request, (uint32_t)strlen(request), body, (uint32_t)length);
}

/* parley_load looks up a key. It returns 1, and parley_answer() is the value; 0 if
 * there is none; or a negative number, and parley_answer() is the reason. */
PARLEY_MAYBE_UNUSED int parley_load(const char *key) { return parley_host_kv_get(key, (uint32_t)strlen(key)); }

/* parley_store stores a value under a key. It returns 0, or a negative number, and
 * parley_answer() is the reason. */
PARLEY_MAYBE_UNUSED int parley_store(const char *key, const void *value, size_t length) {
	return parley_host_kv_set(key, (uint32_t)strlen(key), value, (uint32_t)length);
}

/* parley_delete deletes a key. It returns 0, or a negative number, and parley_answer()
 * is the reason. */
PARLEY_MAYBE_UNUSED int parley_delete(const char *key) { return parley_host_kv_delete(key, (uint32_t)strlen(key)); }

/* parley_keys lists the keys that begin with a prefix, at most a thousand. It returns
 * their number, and parley_answer() is a JSON list of them; or a negative number, and
 * parley_answer() is the reason. */
PARLEY_MAYBE_UNUSED int parley_keys(const char *prefix) { return parley_host_kv_keys(prefix, (uint32_t)strlen(prefix)); }

/* parley_conversation returns 0, and parley_answer() is the conversation so far as JSON,
 * {"messages": [{"role": "user", "content": "…"}]}; or a negative number, and
 * parley_answer() is the reason. */
PARLEY_MAYBE_UNUSED int parley_conversation(void) { return parley_host_conversation(); }

#endif
