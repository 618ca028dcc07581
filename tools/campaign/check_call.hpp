// SPDX-License-Identifier: BSD-3-Clause
// check_call.hpp: library calls that have to succeed.
#pragma once

#include <scute/scute.h>

#include <stdexcept>
#include <string>

namespace scute_campaign {

struct call_failed : std::runtime_error {
  explicit call_failed(int what)
      : std::runtime_error(std::string(scute_errorname(what)) + ": " + scute_errormsg()),
        code(what) {}
  int code;
};

inline void need(int code) {
  if (code != SCUTE_OK) throw call_failed(code);
}

// A struct that carries its own size.
template <typename T>
T sized() {
  T t{};
  t.struct_size = sizeof t;
  return t;
}

}  // namespace scute_campaign
