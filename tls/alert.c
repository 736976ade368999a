/*
** alert.c: the names of alerts.
*/
#include "x509Int.h"

static const struct {
  tls_alert alert;
  const char *name;
} names[] = {
    {TLS_ALERT_CLOSE_NOTIFY, "close_notify"},
    {TLS_ALERT_UNEXPECTED_MESSAGE, "unexpected_message"},
    {TLS_ALERT_BAD_RECORD_MAC, "bad_record_mac"},
    {TLS_ALERT_RECORD_OVERFLOW, "record_overflow"},
    {TLS_ALERT_HANDSHAKE_FAILURE, "handshake_failure"},
    {TLS_ALERT_BAD_CERTIFICATE, "bad_certificate"},
    {TLS_ALERT_UNSUPPORTED_CERTIFICATE, "unsupported_certificate"},
    {TLS_ALERT_CERTIFICATE_REVOKED, "certificate_revoked"},
    {TLS_ALERT_CERTIFICATE_EXPIRED, "certificate_expired"},
    {TLS_ALERT_CERTIFICATE_UNKNOWN, "certificate_unknown"},
    {TLS_ALERT_ILLEGAL_PARAMETER, "illegal_parameter"},
    {TLS_ALERT_UNKNOWN_CA, "unknown_ca"},
    {TLS_ALERT_ACCESS_DENIED, "access_denied"},
    {TLS_ALERT_DECODE_ERROR, "decode_error"},
    {TLS_ALERT_DECRYPT_ERROR, "decrypt_error"},
    {TLS_ALERT_PROTOCOL_VERSION, "protocol_version"},
    {TLS_ALERT_INSUFFICIENT_SECURITY, "insufficient_security"},
    {TLS_ALERT_INTERNAL_ERROR, "internal_error"},
    {TLS_ALERT_INAPPROPRIATE_FALLBACK, "inappropriate_fallback"},
    {TLS_ALERT_USER_CANCELED, "user_canceled"},
    {TLS_ALERT_NO_RENEGOTIATION, "no_renegotiation"},
    {TLS_ALERT_MISSING_EXTENSION, "missing_extension"},
    {TLS_ALERT_UNSUPPORTED_EXTENSION, "unsupported_extension"},
    {TLS_ALERT_UNRECOGNIZED_NAME, "unrecognized_name"},
    {TLS_ALERT_BAD_CERTIFICATE_STATUS_RESPONSE, "bad_certificate_status_response"},
    {TLS_ALERT_UNKNOWN_PSK_IDENTITY, "unknown_psk_identity"},
    {TLS_ALERT_CERTIFICATE_REQUIRED, "certificate_required"},
    {TLS_ALERT_NO_APPLICATION_PROTOCOL, "no_application_protocol"},
};

const char *tls_alert_name(int alert) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if ((int)names[i].alert == alert) return names[i].name;
  }
  return "unknown alert";
}
