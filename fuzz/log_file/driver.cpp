// SPDX-License-Identifier: BSD-3-Clause
// scute-fuzz-log-file: random inputs, or those of files (random_inputs.hpp).
#include "images.hpp"
#include "random_inputs.hpp"
#include "run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  scute::fuzz::run_log_file({data, size});
  return 0;
}

#ifndef SCUTE_FUZZ_GUIDED
int main(int argc, char** argv) {
  scute::fuzz::log_images();
  return scute::fuzz::run_inputs(
      argc, argv, 16, [](std::span<const uint8_t> in) { scute::fuzz::run_log_file(in); },
      [] { scute::fuzz::planted_lie = true; });
}
#endif
