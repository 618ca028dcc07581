// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/pool/guard.hpp"

#define SCUTE_STRING_(x) #x
#define SCUTE_STRING(x) SCUTE_STRING_(x)

namespace scute::core::c_api {

int fail(int code, const char* message) noexcept {
  const int keep = errno;
  this_thread().set_message(message);
  errno = keep;
  return code;
}

int refuse_inherited() noexcept {
  return fail(SCUTE_E_FORKED, inherited_message);
}

}  // namespace scute::core::c_api

extern "C" {

const char* scute_errormsg(void) {
  return scute::core::thread_state::message();
}

const char* scute_errorname(int code) {
  switch (code) {
    case SCUTE_OK: return "SCUTE_OK";
    case SCUTE_E_INVALID: return "SCUTE_E_INVALID";
    case SCUTE_E_NOMEM: return "SCUTE_E_NOMEM";
    case SCUTE_E_NOENT: return "SCUTE_E_NOENT";
    case SCUTE_E_EXISTS: return "SCUTE_E_EXISTS";
    case SCUTE_E_FORMAT: return "SCUTE_E_FORMAT";
    case SCUTE_E_VERSION: return "SCUTE_E_VERSION";
    case SCUTE_E_TRUNCATED: return "SCUTE_E_TRUNCATED";
    case SCUTE_E_CORRUPT: return "SCUTE_E_CORRUPT";
    case SCUTE_E_BUSY: return "SCUTE_E_BUSY";
    case SCUTE_E_READONLY: return "SCUTE_E_READONLY";
    case SCUTE_E_NOSPC: return "SCUTE_E_NOSPC";
    case SCUTE_E_OID: return "SCUTE_E_OID";
    case SCUTE_E_FREED: return "SCUTE_E_FREED";
    case SCUTE_E_RANGE: return "SCUTE_E_RANGE";
    case SCUTE_E_TYPE: return "SCUTE_E_TYPE";
    case SCUTE_E_CANARY: return "SCUTE_E_CANARY";
    case SCUTE_E_ABORTED: return "SCUTE_E_ABORTED";
    case SCUTE_E_NOTX: return "SCUTE_E_NOTX";
    case SCUTE_E_CONFLICT: return "SCUTE_E_CONFLICT";
    case SCUTE_E_IO: return "SCUTE_E_IO";
    case SCUTE_E_LAYOUT: return "SCUTE_E_LAYOUT";
    case SCUTE_E_UNSUPPORTED: return "SCUTE_E_UNSUPPORTED";
    case SCUTE_E_INTERNAL: return "SCUTE_E_INTERNAL";
    case SCUTE_E_FORKED: return "SCUTE_E_FORKED";
    case SCUTE_E_CHANGED: return "SCUTE_E_CHANGED";
    default: return "SCUTE_E_UNKNOWN";
  }
}

const char* scute_version(void) {
  return SCUTE_STRING(SCUTE_VERSION_MAJOR) "." SCUTE_STRING(SCUTE_VERSION_MINOR) "." SCUTE_STRING(
      SCUTE_VERSION_PATCH);
}

}  // extern "C"
