// SPDX-License-Identifier: BSD-3-Clause
// scute-sim-replay MACHINE SCHEME RECORD: a recorded program
// (feed/trace.hpp) on a machine; the result as the front end gives it, a line of JSON on the
// standard output.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "feed/run.hpp"
#include "feed/trace.hpp"

int main(int n, char** arguments) {
  using namespace scute::sim;
  try {
    if (n != 4) throw std::invalid_argument("MACHINE SCHEME RECORD are needed");
    const settings s = read_settings(arguments[1]);
    std::ifstream in(arguments[3]);
    if (!in) throw std::runtime_error(std::string(arguments[3]) + ": cannot be read");
    run to(s, arguments[2]);
    replay(in, to);
    std::printf("%s\n", to_json(to.results(), s, arguments[2], "recorded", "recorded").c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scute-sim-replay: %s\n", e.what());
    return 2;
  }
}
