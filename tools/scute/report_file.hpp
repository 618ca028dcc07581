// SPDX-License-Identifier: BSD-3-Clause
// report_file.hpp: where a report goes that is not to stand
// among what a program has written to standard output.
#pragma once

#include <functional>
#include <string>

namespace scute_tool {

class report_file {
 public:
  // Made, or cut to nothing; an empty path: standard output. Throws failure; a shielded file, and a
  // file of Scute's, is refused.
  explicit report_file(std::string path);
  ~report_file();
  report_file(const report_file&) = delete;
  report_file& operator=(const report_file&) = delete;

  // Once, as the last that this command does, when its program has ended: standard output is the
  // file from here on. Throws failure if not all is there that `print` writes. (Of standard output
  // itself main() says that.)
  void write(const std::function<void()>& print);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  const std::string path_;
  int fd_ = -1;
};

}  // namespace scute_tool
