// SPDX-License-Identifier: BSD-3-Clause
//
// error.hpp: what the C++ interface throws.
//
// Every failing call throws scute::error, a std::system_error. Its code() is a scute::errc. Its
// what() is the text of scute_errormsg(): the operation that failed, its object, and the remedy.
// Codes also compare with the portable conditions of <system_error> where one fits:
//
//   try { pool = scute::pool::open(path); }
//   catch (const scute::error& e) {
//     if (e.code() == scute::errc::busy) ...                        // exactly this code
//     if (e.code() == std::errc::no_such_file_or_directory) ...     // its portable meaning
//   }
#ifndef SCUTE_ERROR_HPP
#define SCUTE_ERROR_HPP

#include <scute/scute.h>

#include <string>
#include <system_error>
#include <type_traits>

namespace scute {

/// The SCUTE_E_* codes of scute.h, with the same values and meanings.
enum class errc : int {
  invalid = SCUTE_E_INVALID,
  nomem = SCUTE_E_NOMEM,
  noent = SCUTE_E_NOENT,
  exists = SCUTE_E_EXISTS,
  format = SCUTE_E_FORMAT,
  version = SCUTE_E_VERSION,
  truncated = SCUTE_E_TRUNCATED,
  corrupt = SCUTE_E_CORRUPT,
  busy = SCUTE_E_BUSY,
  readonly = SCUTE_E_READONLY,
  nospc = SCUTE_E_NOSPC,
  oid = SCUTE_E_OID,
  freed = SCUTE_E_FREED,
  range = SCUTE_E_RANGE,
  type = SCUTE_E_TYPE,
  canary = SCUTE_E_CANARY,
  aborted = SCUTE_E_ABORTED,
  notx = SCUTE_E_NOTX,
  conflict = SCUTE_E_CONFLICT,
  io = SCUTE_E_IO,
  layout = SCUTE_E_LAYOUT,
  unsupported = SCUTE_E_UNSUPPORTED,
  internal = SCUTE_E_INTERNAL,
  forked = SCUTE_E_FORKED,
  changed = SCUTE_E_CHANGED,
};

}  // namespace scute

template <>
struct std::is_error_code_enum<scute::errc> : std::true_type {};

namespace scute {

namespace detail {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "scute"; }
  std::string message(int code) const override { return scute_errorname(code); }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::invalid: return std::errc::invalid_argument;
      case errc::nomem: return std::errc::not_enough_memory;
      case errc::noent: return std::errc::no_such_file_or_directory;
      case errc::exists: return std::errc::file_exists;
      case errc::busy: return std::errc::device_or_resource_busy;
      case errc::readonly: return std::errc::read_only_file_system;
      case errc::nospc: return std::errc::no_space_on_device;
      case errc::range: return std::errc::result_out_of_range;
      case errc::io: return std::errc::io_error;
      case errc::unsupported: return std::errc::not_supported;
      case errc::forked: return std::errc::operation_not_permitted;
      default: return {code, *this};
    }
  }
};

}  // namespace detail

/// The category of Scute's error codes; its name() is "scute". Static. Any thread.
inline const std::error_category& error_category() noexcept {
  static const detail::category instance;
  return instance;
}

/// Makes `std::error_code ec = scute::errc::busy` and `ec == scute::errc::busy` work.
inline std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// Thrown by every failing call of this interface.
class error : public std::system_error {
 public:
  error(errc code, const std::string& message)
      : std::system_error(make_error_code(code), message) {}
  error(errc code, const char* message) : std::system_error(make_error_code(code), message) {}

  /// code() as the enumeration.
  errc which() const noexcept { return static_cast<errc>(code().value()); }
};

namespace detail {

/// Throws the error of the calling thread's last failing C call. Out of line of the fast path.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_last(int result) {
  throw error(static_cast<errc>(result), scute_errormsg());
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_error(errc code, const char* message) {
  throw error(code, message);
}

/// The bridge from result codes to exceptions.
inline void check(int result) {
  if (result < 0) [[unlikely]] {
    throw_last(result);
  }
}

}  // namespace detail

}  // namespace scute

#endif
