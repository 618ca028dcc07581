// SPDX-License-Identifier: BSD-3-Clause
// The conditions that every call must keep, whatever the pool holds. A breach ends the process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "scute/scute.h"

namespace scute::fuzz {

[[noreturn]] inline void breach(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

// A refusal has a documented code and says something. INTERNAL is a bug by its own definition, and
// no pool of a megabyte may use up the memory. The medium never fails, and no other process runs.
inline int checked_code(const char* call, int code, const char* message) {
  if (code >= 0) return code;
  const char* name = scute_errorname(code);
  if (message[0] == '\0') breach(std::string(call) + " failed without a message: " + name);
  switch (code) {
    case SCUTE_E_INTERNAL:
    case SCUTE_E_NOMEM:
    case SCUTE_E_IO:
    case SCUTE_E_BUSY:
    case SCUTE_E_CANARY:
    case SCUTE_E_NOTX: breach(std::string(call) + " failed with " + name + ": " + message);
    default: break;
  }
  if (std::strcmp(name, "SCUTE_E_UNKNOWN") == 0)
    breach(std::string(call) + " failed with the unknown code " + std::to_string(code));
  return code;
}

// Reads bytes so that neither the compiler nor a sanitizer overlooks it.
inline void touch(const void* at, uint64_t n) {
  const auto* p = static_cast<const unsigned char*>(at);
  unsigned char sum = 0;
  for (uint64_t i = 0; i < n; i += 61) sum = static_cast<unsigned char>(sum + p[i]);
  if (n != 0) sum = static_cast<unsigned char>(sum + p[n - 1]);
  asm volatile("" : : "r"(sum));
}

// checked_code() for a call of the C interface that has just returned.
inline int checked(const char* call, int code) {
  return checked_code(call, code, code < 0 ? scute_errormsg() : "");
}

inline void allow_only(const char* call, int code, const std::string& message,
                       std::initializer_list<int> codes) {
  for (const int c : codes)
    if (c == code) return;
  breach(std::string(call) + " failed with " + scute_errorname(code) + ": " + message);
}

}  // namespace scute::fuzz
