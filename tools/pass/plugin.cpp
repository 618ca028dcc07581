// SPDX-License-Identifier: BSD-3-Clause
// plugin.cpp: how the pass is found: by clang (-fpass-plugin,
// options by -mllvm -scute-shield=...) and by opt (-passes=scute-shield, options likewise).
#include "instrument.hpp"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>

#include <string>

namespace {

llvm::cl::opt<std::string> option_text(
    "scute-shield", llvm::cl::desc("events to report: flush, detect, loads, trace"),
    llvm::cl::init("flush"), llvm::cl::ZeroOrMore);
llvm::cl::opt<std::string> plant_text("scute-shield-plant", llvm::cl::desc("a bug, for the tests"),
                                      llvm::cl::Hidden, llvm::cl::ZeroOrMore);

scute_pass::shield_pass pass_as_asked() {
  const auto asked = scute_pass::parse_options(option_text);
  if (!asked)
    llvm::report_fatal_error(llvm::Twine("scute: there is no option '") + option_text + "'", false);
  scute_pass::planted bugs;
  bugs.over_barriers = plant_text == "over_barriers";
  bugs.any_path = plant_text == "any_path";
  bugs.wide_gaps = plant_text == "wide_gaps";
  bugs.late_fence = plant_text == "late_fence";
  bugs.early_stream = plant_text == "early_stream";
  return {*asked, bugs};
}

}  // namespace

extern "C" __attribute__((weak, visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "scute-shield", "1", [](llvm::PassBuilder& builder) {
            builder.registerOptimizerLastEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(pass_as_asked());
                });
            builder.registerPipelineParsingCallback(
                [](llvm::StringRef name, llvm::ModulePassManager& passes,
                   llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
                  if (name != "scute-shield") return false;
                  passes.addPass(pass_as_asked());
                  return true;
                });
          }};
}
