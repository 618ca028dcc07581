// SPDX-License-Identifier: BSD-3-Clause
#include "stop_request.hpp"

#include <csignal>
#include <stdexcept>

namespace scute_demo {

namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void on_stop_signal(int) {
  requested = 1;
}

}  // namespace

void catch_stop_requests() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
}

void check_stop_request() {
  if (requested != 0) throw std::runtime_error("stopped");
}

}  // namespace scute_demo
