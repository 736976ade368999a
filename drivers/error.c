/*
** drivers/error.c: what every driver needs to report and to build text: errors of one line, a buffer
** with a sticky failure, options by name. The contracts are in driverInt.h.
*/
#include "driverInt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Errors ---------------------------------------------------------------------------------- */

void edb_copy_line(char *out, size_t size, const char *text, size_t n) {
  size_t used = 0, i, back;
  int cut = 0;
  for (i = 0; i < n && text[i]; i++) {
    unsigned char c = (unsigned char)text[i];
    int control = c < 0x20 || c == 0x7f;
    if (control && (used == 0 || out[used - 1] == ' ')) continue;
    if (used + 1 >= size) {
      cut = 1;
      break;
    }
    out[used++] = control ? ' ' : text[i];
  }
  /* Cut within a character: its first byte and what followed it go. */
  if (cut && ((unsigned char)text[i] & 0xc0) == 0x80) {
    for (back = 0; back < 3 && used > 0 && ((unsigned char)out[used - 1] & 0xc0) == 0x80; back++)
      used--;
    if (used > 0 && (unsigned char)out[used - 1] >= 0xc0) used--;
  }
  while (used > 0 && out[used - 1] == ' ') used--;
  if (size > 0) out[used] = 0;
}

/* Formatted beside the target, since an argument may be part of the error itself, and into more bytes
** than it has, so that edb_copy_line sees where a cut falls. */
static void copy_formatted(char *out, size_t size, const char *format, va_list arguments)
    EDB_PRINTF(3, 0);

static void copy_formatted(char *out, size_t size, const char *format, va_list arguments) {
  char text[2048];
  vsnprintf(text, sizeof text, format, arguments);
  edb_copy_line(out, size, text, strlen(text));
}

int edb_fail(edb_error *error, edb_code code, const char *format, ...) {
  va_list arguments;
  if (!error) return (int)code;
  va_start(arguments, format);
  copy_formatted(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  error->code = code;
  error->vendor = 0;
  error->sqlstate[0] = 0;
  error->hint[0] = 0;
  error->row = 0;
  error->foreign_key = 0;
  return (int)code;
}

int edb_spec_plain(const edb_transaction_spec *spec, edb_error *error) {
  if (!spec->snapshot && !spec->readonly && !spec->two_phase) return EDB_OK;
  return edb_fail(error, EDB_UNSUPPORTED, "this driver begins no %s transactions",
                  spec->two_phase  ? "prepared (two_phase)"
                  : spec->snapshot ? "snapshot"
                                   : "read-only");
}

int edb_two_phase_check(const char *name, edb_error *error) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  size_t n = strlen(name);
  if (n > 0 && n <= EDB_TWO_PHASE_NAME && strspn(name, allowed) == n) return EDB_OK;
  return edb_fail(error, EDB_INVALID_QUERY, "that is no name for a prepared transaction");
}

int edb_fail_ended(edb_error *error, int code) {
  if (code != EDB_BUSY) return code;
  error->code = EDB_FAILED;
  return EDB_FAILED;
}

void edb_fail_unknown(edb_error *error) { edb_fail_hint(error, "%s", EDB_OUTCOME_UNKNOWN); }

void edb_fail_hint(edb_error *error, const char *format, ...) {
  va_list arguments;
  if (!error) return;
  va_start(arguments, format);
  copy_formatted(error->hint, sizeof error->hint, format, arguments);
  va_end(arguments);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void edb_wipe(void *p, size_t n) {
  volatile unsigned char *bytes = p;
  while (n-- > 0) *bytes++ = 0;
}

char *edb_buffer_room(edb_buffer *buffer, size_t n) {
  size_t size;
  char *p;
  if (buffer->nomem) return NULL;
  if (n >= SIZE_MAX / 2 - buffer->n) {
    buffer->nomem = 1;
    return NULL;
  }
  if (buffer->n + n + 1 > buffer->size) {
    size = buffer->size ? buffer->size : 64;
    while (size < buffer->n + n + 1) size *= 2;
    p = buffer->host->resize(buffer->host->context, buffer->p, size);
    if (!p) {
      buffer->nomem = 1;
      return NULL;
    }
    buffer->p = p;
    buffer->size = size;
  }
  return buffer->p + buffer->n;
}

void edb_buffer_add(edb_buffer *buffer, const void *p, size_t n) {
  char *room = edb_buffer_room(buffer, n);
  if (!room) return;
  if (n > 0) memcpy(room, p, n);
  buffer->n += n;
  buffer->p[buffer->n] = 0;
}

void edb_buffer_text(edb_buffer *buffer, const char *text) {
  edb_buffer_add(buffer, text, strlen(text));
}

void edb_buffer_free(edb_buffer *buffer) {
  edb_free(buffer->host, buffer->p);
  buffer->p = NULL;
  buffer->n = buffer->size = 0;
  buffer->nomem = 0;
}

/* ---- Options --------------------------------------------------------------------------------- */

const char *edb_option_get(const edb_option *options, size_t n, const char *name) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (strcmp(options[i].name, name) == 0) return options[i].value;
  }
  return NULL;
}
