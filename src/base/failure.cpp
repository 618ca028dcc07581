// SPDX-License-Identifier: BSD-3-Clause
#include "base/failure.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace scute::core {

void throw_errno(const std::string& what, int error) {
  errno = error;
  scute_error code = SCUTE_E_IO;
  if (error == ENOENT) code = SCUTE_E_NOENT;
  if (error == EEXIST) code = SCUTE_E_EXISTS;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) code = SCUTE_E_NOSPC;
  if (error == EROFS) code = SCUTE_E_READONLY;
  if (error == ENOMEM) code = SCUTE_E_NOMEM;
  std::string why = std::strerror(error);
  if (error == ENAMETOOLONG)
    why +=
        "; choose a name of at most 231 bytes, most file systems take 255 and up to 24 are added "
        "for the files next to it (.scute, .log, .new)";
  // NUMBER-1 in base/process/kept_number.hpp.
  if (error == EBADF)
    why += "; the program has closed a descriptor of this library's (closefrom(), close_range())";
  throw failure(code, "cannot " + what + ": " + why);
}

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "scute: internal error at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace scute::core
