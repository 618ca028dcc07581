// SPDX-License-Identifier: BSD-3-Clause
// check_call.hpp: library calls that have to succeed.
#pragma once

#include <scute/scute.h>

#include <stdexcept>
#include <string>

namespace scute_campaign {

inline void need(int code) {
  if (code != SCUTE_OK)
    throw std::runtime_error(std::string(scute_errorname(code)) + ": " + scute_errormsg());
}

// A struct that carries its own size.
template <typename T>
T sized() {
  T t{};
  t.struct_size = sizeof t;
  return t;
}

}  // namespace scute_campaign
