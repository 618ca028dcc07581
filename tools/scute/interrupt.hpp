// SPDX-License-Identifier: BSD-3-Clause
// interrupt.hpp: SIGINT and SIGTERM as a request to stop at the next good place. A second one of
// the same kind ends the process at once, as usual.
#pragma once

#include "exit_code.hpp"

namespace scute_tool {

class interrupt {
 public:
  interrupt();   // one at a time
  ~interrupt();  // the signals act as before
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  bool requested() const;
  exit_code code() const;  // exit_sigint or exit_sigterm

  // Readable once a stop is requested, so that a poll() for input cannot miss it.
  int wake_fd() const { return pipe_[0]; }

 private:
  int pipe_[2] = {-1, -1};
};

}  // namespace scute_tool
