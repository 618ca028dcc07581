// SPDX-License-Identifier: BSD-3-Clause
// How the core reports errors: an exception that carries a SCUTE_E_* code and a sentence for the
// user. It never leaves the C ABI, and nothing throws between the decision of a transaction and
// its end.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "scute/scute.h"

namespace scute::core {

class failure : public std::exception {
 public:
  failure(scute_error code, std::string message) : code_(code), message_(std::move(message)) {}
  scute_error code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  scute_error code_;
  std::string message_;
};

// A failed system call: "cannot WHAT PATH: strerror"; keeps errno for the caller.
[[noreturn]] void throw_errno(const std::string& what, int error);

// Reports an internal inconsistency: prints and aborts, in release builds too. For states that no
// input, damage or misuse can cause.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace scute::core

#define SCUTE_ASSERT(condition) \
  ((condition) ? void(0) : ::scute::core::assertion_failed(#condition, __FILE__, __LINE__))
