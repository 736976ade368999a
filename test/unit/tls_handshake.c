/*
** The client's handshake against a server that is told what to send: the good orders, and each
** defect that is to be refused, with the alert that must be sent for it. A row of a table is a
** server; tls_script.h has the letters of its steps.
*/
#include "tls_script.h"

/* ---- TLS 1.3 --------------------------------------------------------------------------------- */

static const script scripts[] = {
    {TO("a good one", GOOD, TLS_ALERT_NONE)},
    {TO("a record for each message", "H|!E|C|V|F|!?=<", TLS_ALERT_NONE)},
    {TO("messages across records", "H1|!ECV1F1|!?=<", TLS_ALERT_NONE)},
    {TO("padded", "H|!ECVFp!?=<Tp<", TLS_ALERT_NONE)},
    {TO("CCS where they may be", "SH|S!SECV|SF|!?=<", TLS_ALERT_NONE)},
    {TO("a certificate asked for", "H|!EQCVF|!?=<", TLS_ALERT_NONE)},
    {TO("a cookie", "R|?H|!ECVF|!?=<", TLS_ALERT_NONE), .retry = "002c00050003616263"},
    {TO("tickets and new keys", GOOD "T|<k|+<u|+<T|<", TLS_ALERT_NONE)},
    {TO("data after which nothing is missing", GOOD "DAWD", TLS_ALERT_NONE)},
    {TO("the protocol that was offered", GOOD, TLS_ALERT_NONE),
     .encrypted = "0010000a0008 07 7464732f382e30"},
    {TO("an answer to the name", GOOD, TLS_ALERT_NONE), .encrypted = "00000000000a00040002001d"},
    {TO("a ticket's extension that nobody knows", GOOD "T|<", TLS_ALERT_NONE),
     .ticket = "0004aaaa0000"},

    /* Order. */
    {TO("Finished without Certificate", "H|!EF|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("Finished without CertificateVerify", "H|!ECF|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CertificateVerify without Certificate", "H|!EV|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("no EncryptedExtensions", "H|!C|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("two Certificates", "H|!ECC|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("two CertificateRequests", "H|!EQQ|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CertificateRequest after Certificate", "H|!ECQ|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("two ServerHellos", "H|!H|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a second handshake", GOOD "H|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CertificateRequest afterwards", GOOD "Q|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("HelloRequest", GOOD "g|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a ticket too early", "H|!ET|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("KeyUpdate too early", "H|!Ek|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("EncryptedExtensions in the clear", "H|E|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("data in the clear", "D", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("data before Finished", "H|!ECVD", TLS_ALERT_UNEXPECTED_MESSAGE)},

    /* Records. */
    {TO("a message across the first change of keys", "HE|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a message across the second", "H|!ECVFT|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a message across KeyUpdate", GOOD "kT|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("data within a message", GOOD "T1D", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("an alert within a message", "H|!E1N", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CCS within a message", "H|!EC1S", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("an empty handshake record", "H|!Z", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("an empty handshake record within a message", "H|!E1Z", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("padding alone", GOOD "P", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a CCS that is none", "Y", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a CCS of two bytes", "H|y", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CCS after Finished", GOOD "S", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CCS without end", X33("S"), TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("empty records without end", GOOD X33("A"), TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("warnings without end", GOOD X33("W"), TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("new keys without end", GOOD X33("k|+"), TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("tickets without end", GOOD X33("T|"), TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("as many empty ones as are taken", GOOD X16("A") X16("A") "D" X16("A"), TLS_ALERT_NONE)},

    /* Hellos. */
    {TO("no key share", "H|", TLS_ALERT_MISSING_EXTENSION), .no_share = 1},
    {TO("no key share after a HelloRetryRequest", "R|?H|", TLS_ALERT_MISSING_EXTENSION),
     .retry = "002c00050003616263", .no_share = 1},
    {TO("a share of another group", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .group = 0x17},
    {TO("a share of small order", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .zero_share = 1},
    {TO("another session id", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .no_echo = 1},
    {TO("compression", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .compression = 1},
    {TO("a suite that was not offered", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .suite = 0x1304},
    {TO("a suite of TLS 1.2", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .suite = 0xc02b},
    {TO("a version that is none", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .no_versions = 1,
     .hello = "002b00020305"},
    {TO("TLS 1.2 by supported_versions", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .no_versions = 1,
     .hello = "002b00020303"},
    {TO("TLS 1.3 by legacy_version", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .legacy = 0x0304},
    {TO("TLS 1.1", "h|", TLS_ALERT_PROTOCOL_VERSION), .legacy = 0x0302},
    {TO("a ServerHello cut short", "H|", TLS_ALERT_DECODE_ERROR), .short_body = 1},
    {TO("an extension twice", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .hello = "002b00020304"},
    {TO("an extension of another message", "H|", TLS_ALERT_ILLEGAL_PARAMETER),
     .hello = "000a00040002001d"},
    {TO("an extension that was not asked for", "H|", TLS_ALERT_UNSUPPORTED_EXTENSION),
     .hello = "aaaa0000"},
    {TO("a session that was not offered", "H|", TLS_ALERT_UNSUPPORTED_EXTENSION), .psk = 1},

    /* HelloRetryRequests. */
    {TO("that changes nothing", "R|", TLS_ALERT_ILLEGAL_PARAMETER)},
    {TO("for the group that was sent", "R|", TLS_ALERT_ILLEGAL_PARAMETER), .retry = "00330002001d"},
    {TO("for a group that was not offered", "R|", TLS_ALERT_ILLEGAL_PARAMETER),
     .retry = "003300020019"},
    {TO("for such a group, with a cookie", "R|", TLS_ALERT_ILLEGAL_PARAMETER),
     .retry = "003300020019002c00050003616263"},
    {TO("a cookie with something behind", "R|", TLS_ALERT_DECODE_ERROR),
     .retry = "002c0006000361626300"},
    {TO("a second one", "R|?R|", TLS_ALERT_UNEXPECTED_MESSAGE), .retry = "002c00050003616263"},
    {TO("another suite afterwards", "R|?H|", TLS_ALERT_ILLEGAL_PARAMETER),
     .retry = "002c00050003616263", .second_suite = 0x1303},
    {TO("a suite of no version", "R|", TLS_ALERT_ILLEGAL_PARAMETER), .retry = "002c00050003616263",
     .second_suite = 0x1399},
    {TO("an empty cookie", "R|", TLS_ALERT_DECODE_ERROR), .retry = "002c00020000"},
    {TO("a share of the group before", "R|?H|", TLS_ALERT_ILLEGAL_PARAMETER),
     .retry = "003300020017"},
    {TO("an extension that may not be there", "R|", TLS_ALERT_UNSUPPORTED_EXTENSION),
     .retry = "002c00050003616263aaaa0000"},
    {TO("TLS 1.2 afterwards", "R|?h|", TLS_ALERT_ILLEGAL_PARAMETER), .retry = "002c00050003616263"},
    {TO("without a version", "R|", TLS_ALERT_ILLEGAL_PARAMETER), .no_retry_versions = 1,
     .retry = "002c00050003616263"},

    /* A key that fills its place to the last byte, and one that does not fit. */
    {TO("the longest key", "H|!EC|V|", TLS_ALERT_ILLEGAL_PARAMETER), .rsa_leaf = 1149},
    {TO("a longer key", "H|!EC|", TLS_ALERT_UNSUPPORTED_CERTIFICATE), .rsa_leaf = 1150},

    /* EncryptedExtensions. */
    {TO("an unknown extension", "H|!E|", TLS_ALERT_UNSUPPORTED_EXTENSION), .encrypted = "aaaa0000"},
    {TO("the key share again", "H|!E|", TLS_ALERT_ILLEGAL_PARAMETER), .encrypted = "00330002001d"},
    {TO("the extended master secret", "H|!E|", TLS_ALERT_ILLEGAL_PARAMETER),
     .encrypted = "00170000"},
    {TO("early data", "H|!E|", TLS_ALERT_UNSUPPORTED_EXTENSION), .encrypted = "002a0000"},
    {TO("a name that is not empty", "H|!E|", TLS_ALERT_DECODE_ERROR), .encrypted = "0000000100"},
    {TO("a protocol that was not offered", "H|!E|", TLS_ALERT_ILLEGAL_PARAMETER),
     .encrypted = "0010000500030268 32"},
    {TO("two protocols", "H|!E|", TLS_ALERT_DECODE_ERROR),
     .encrypted = "00100010000e 07 7464732f382e30 05 6f74686572"},
    {TO("extensions that end too early", "H|!E|", TLS_ALERT_DECODE_ERROR), .encrypted = "000a00"},

    /* Certificates. */
    {TO("no certificate", "H|!EC|", TLS_ALERT_DECODE_ERROR), .empty_chain = 1},
    {TO("as many as there may be", GOOD, TLS_ALERT_NONE), .certificates = TLS_CHAIN_MAX},
    {TO("one more", "H|!EC|", TLS_ALERT_BAD_CERTIFICATE), .certificates = TLS_CHAIN_MAX + 1},
    {TO("one that is not trusted", "H|!EC|", TLS_ALERT_UNKNOWN_CA), .untrusted = 1},
    {TO("a context", "H|!EC|", TLS_ALERT_ILLEGAL_PARAMETER), .context = 1},
    {TO("a request with a context", "H|!EQ|", TLS_ALERT_ILLEGAL_PARAMETER), .context = 1},
    {TO("a request without algorithms", "H|!EQ|", TLS_ALERT_MISSING_EXTENSION),
     .request = "0004aaaa0000"},
    {TO("an extension that was not asked for", "H|!EC|", TLS_ALERT_UNSUPPORTED_EXTENSION),
     .certificate = "00050000"},
    {TO("a scheme of another key", "H|!ECV|", TLS_ALERT_ILLEGAL_PARAMETER), .scheme = 0x0804},
    {TO("a scheme that was not offered", "H|!ECV|", TLS_ALERT_ILLEGAL_PARAMETER), .scheme = 0x0203},
    {TO("a signature that is not the key's", "H|!ECV|", TLS_ALERT_DECRYPT_ERROR),
     .wrong_signature = 1},
    {TO("Finished that is wrong", "H|!ECVF|", TLS_ALERT_DECRYPT_ERROR), .wrong_finished = 1},

    /* The end. */
    {TO("a fatal alert", GOOD "X", TLS_ALERT_HANDSHAKE_FAILURE)},
    {TO("an alert of 255", "e", TLS_ALERT_ILLEGAL_PARAMETER)},
    {TO("an alert of 255 when connected", GOOD "e", TLS_ALERT_ILLEGAL_PARAMETER)},
    {TO("close_notify during the handshake", "H|!EN", TLS_ALERT_CLOSE_NOTIFY)},
};

/* ---- TLS 1.2 --------------------------------------------------------------------------------- */

static const script scripts12[] = {
    {TO("a good one", GOOD12, TLS_ALERT_NONE)},
    {TO("one record", "hcxo|?=sf|<", TLS_ALERT_NONE)},
    {TO("messages across records", "h1|cx1|o|?=sf1|<", TLS_ALERT_NONE)},
    {TO("a certificate asked for", "h|cxqo|?=sf|<", TLS_ALERT_NONE)},
    {TO("a ticket", "hcxo|?=t|sf|<", TLS_ALERT_NONE), .hello = "00230000"},
    {TO("a session id", GOOD12, TLS_ALERT_NONE), .id = "01"},
    {TO("CCS within a message", "hcxo|?=t1s", TLS_ALERT_UNEXPECTED_MESSAGE), .hello = "00230000"},
    {TO("point formats", GOOD12, TLS_ALERT_NONE), .hello = "000b00020100"},
    {TO("HelloRequest", GOOD12 "g|?<", TLS_ALERT_NONE)},
    {TO("a warning", "Whcxo|?=sf|<WD", TLS_ALERT_NONE)},

    {TO("no Certificate", "hx|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("no key exchange", "hco|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("Finished without CCS", "hcxo|?f|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CCS too early", "hcx|S", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CCS before the ServerHello", "Sh|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("CCS after Finished", GOOD12 "S", TLS_ALERT_BAD_RECORD_MAC)},
    {TO("a ticket that was not announced", "hcxo|?t|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("a second handshake", GOOD12 "h|", TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("HelloRequest with something in it", GOOD12 "G|", TLS_ALERT_DECODE_ERROR)},
    {TO("HelloRequests without end", GOOD12 X33("g|?"), TLS_ALERT_UNEXPECTED_MESSAGE)},
    {TO("data before Finished", "hcxo|?=sD", TLS_ALERT_UNEXPECTED_MESSAGE)},

    {TO("a session id of 33 bytes", "h|", TLS_ALERT_DECODE_ERROR),
     .id = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00"},
    {TO("no renegotiation_info", "h|", TLS_ALERT_HANDSHAKE_FAILURE), .no_renegotiation = 1},
    {TO("another handshake's", "h|", TLS_ALERT_HANDSHAKE_FAILURE), .no_renegotiation = 1,
     .hello = "ff0100020155"},
    {TO("no extended master secret", "h|", TLS_ALERT_HANDSHAKE_FAILURE), .no_master = 1},
    {TO("no uncompressed points", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .hello = "000b00020101"},
    {TO("a suite of TLS 1.3", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .suite = 0x1301},
    {TO("TLS 1.3 taken away", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .random_end = "444f574e47524401"},
    {TO("TLS 1.2 taken away", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .random_end = "444f574e47524400"},
    {TO("the key share of TLS 1.3", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .hello = "00330000"},
    {TO("a key of another kind than the suite's", "hc|", TLS_ALERT_ILLEGAL_PARAMETER),
     .rsa_leaf = 256},
    {TO("no certificate", "hc|", TLS_ALERT_DECODE_ERROR), .empty_chain = 1},
    {TO("as many as there may be", GOOD12, TLS_ALERT_NONE), .certificates = TLS_CHAIN_MAX},
    {TO("one more", "hc|", TLS_ALERT_BAD_CERTIFICATE), .certificates = TLS_CHAIN_MAX + 1},
    {TO("one that is not trusted", "hc|", TLS_ALERT_UNKNOWN_CA), .untrusted = 1},
    {TO("an explicit curve", "hcx|", TLS_ALERT_ILLEGAL_PARAMETER), .curve_type = 1},
    {TO("a group that was not offered", "hcx|", TLS_ALERT_ILLEGAL_PARAMETER), .group = 0x19},
    {TO("a share of another size", "hcx|", TLS_ALERT_ILLEGAL_PARAMETER), .group = 0x17},
    {TO("a share of small order", "hcx|", TLS_ALERT_ILLEGAL_PARAMETER), .zero_share = 1},
    {TO("a scheme that was not offered", "hcx|", TLS_ALERT_ILLEGAL_PARAMETER), .scheme = 0x0203},
    {TO("a signature that is not the key's", "hcx|", TLS_ALERT_DECRYPT_ERROR),
     .wrong_signature = 1},
    {TO("Finished that is wrong", "hcxo|?=sf|", TLS_ALERT_DECRYPT_ERROR), .wrong_finished = 1},
    {TO("close_notify during the handshake", "hcN", TLS_ALERT_CLOSE_NOTIFY)},
    {TO("a fatal alert", "X", TLS_ALERT_HANDSHAKE_FAILURE)},
};

static void tables(void) {
  const tls_config config = base();
  for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) run(&scripts[i], &config);
  for (size_t i = 0; i < sizeof scripts12 / sizeof scripts12[0]; i++) run(&scripts12[i], &config);
  for (chunk = 1; chunk < 8; chunk += 3) {
    run(&scripts[0], &config);
    run(&scripts12[0], &config);
  }
  chunk = 0;
}

int main(void) {
  if (!peer_load()) {
    printf("tls_handshake: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  tables();
  return unit_done("tls_handshake");
}
