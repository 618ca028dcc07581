// SPDX-License-Identifier: BSD-3-Clause
#include "instrument.hpp"

#include "asm_events.hpp"
#include "hooks.hpp"
#include "ir_events.hpp"
#include "mark.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace scute_pass {
namespace {

// The work to do at an instruction, found before anything is changed.
struct task {
  llvm::Instruction* at = nullptr;
  asm_reading reading;  // of other instructions: one event, reported before or, if it stores, after
};

class instrumentation {
 public:
  instrumentation(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                  const options& asked, const planted& bugs, hook_writer& writer)
      : function_(function), analyses_(analyses), asked_(asked), bugs_(bugs), writer_(writer) {}

  bool run() {
    llvm::SmallVector<llvm::Instruction*, 64> all;
    for (auto& block : function_)
      for (auto& instruction : block) all.push_back(&instruction);
    for (auto* instruction : all) read(*instruction);
    if (failed_ || (tasks_.empty() && accesses_.empty())) return failed_;
    if (function_.hasFnAttribute(llvm::Attribute::Naked)) {
      auto* first = tasks_.empty() ? accesses_.front().at : tasks_.front().at;
      refuse(*first, "a naked function cannot be instrumented");
      return true;
    }
    const auto plan = accesses_.empty() ? std::vector<announcement>() : make_plan();
    // A fence is reported first: it ends the reports of stores (HOOK-3).
    for (const auto& one : tasks_)
      if (one.reading.before) report(one, one.at);
    for (const auto& one : plan) writer_.access(one);
    remove_made(plan);
    for (const auto& one : tasks_)
      if (!one.reading.before) report(one, one.at->getNextNode());
    for (const auto& one : tasks_) rewrite(one);
    return false;
  }

 private:
  std::vector<announcement> make_plan() {
    auto& dominators = analyses_.getResult<llvm::DominatorTreeAnalysis>(function_);
    auto& loops = analyses_.getResult<llvm::LoopAnalysis>(function_);
    // Loops get a block before them, where there is none: the optimizer's last steps take them
    // away.
    if (!asked_.trace) {
      for (auto* loop : loops.getLoopsInPreorder())
        if (!loop->getLoopPreheader())
          llvm::InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, false);
      llvm::PreservedAnalyses kept;
      kept.preserve<llvm::DominatorTreeAnalysis>();
      kept.preserve<llvm::LoopAnalysis>();
      analyses_.invalidate(function_, kept);
    }
    const function_analyses known{analyses_.getResult<llvm::DominatorTreeAnalysis>(function_),
                                  analyses_.getResult<llvm::LoopAnalysis>(function_),
                                  analyses_.getResult<llvm::ScalarEvolutionAnalysis>(function_)};
    return plan_of(function_, accesses_, !asked_.trace, known, bugs_);
  }

  // Values computed for ranges of loops have been copied to where they are needed.
  static void remove_made(const std::vector<announcement>& plan) {
    llvm::SmallVector<llvm::WeakTrackingVH, 8> made;
    for (const auto& one : plan)
      for (const auto& range : one.ranges)
        if (range.dynamic_length) made.append(range.remade.begin(), range.remade.end());
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(made);
  }

  void read(llvm::Instruction& instruction) {
    bool stores = asked_.detect, loads = asked_.loads;
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call && call->isInlineAsm()) {
      auto reading = read_asm(*call, asked_.detect);
      if (!reading.error.empty()) return refuse(instruction, reading.error);
      stores = stores && reading.stores;
      loads = loads && reading.stores;
      // How much they store is unknown; one line counts.
      for (auto* address : reading.locked) store_at(instruction, address, 1);
      if (bugs_.early_stream) reading.before = true;
      for (const auto& next : reading.found)
        if (next.what == event::kind::stream && asked_.detect)
          store_at(instruction, next.address, next.length);
      if (!reading.found.empty()) tasks_.push_back({&instruction, std::move(reading)});
    } else if (const auto found = event_of(instruction)) {
      asm_reading reading;
      reading.found.push_back(*found);
      reading.before = found->what != event::kind::stream || bugs_.early_stream;
      if (bugs_.late_fence && found->what == event::kind::fence) reading.before = false;
      reading.skippable = found->what == event::kind::flush;
      tasks_.push_back({&instruction, std::move(reading)});
    }
    if (stores || loads)
      for (const auto& one : accesses_of(instruction, stores, loads)) accesses_.push_back(one);
  }

  // Of assembly, what its constraints do not say.
  void store_at(llvm::Instruction& instruction, llvm::Value* address, uint64_t length) {
    access next;
    next.at = &instruction;
    next.address = next.base = address;
    next.length = length;
    next.high = static_cast<int64_t>(length);
    accesses_.push_back(next);
  }

  void report(const task& one, llvm::Instruction* place) {
    if (one.reading.skippable) return;  // by rewrite()
    for (const auto& next : one.reading.found) {
      switch (next.what) {
        case event::kind::flush: writer_.flush(place, next.address, next.detail, *one.at); break;
        case event::kind::fence: writer_.fence(place, next.detail, *one.at); break;
        case event::kind::stream: writer_.stream(place, next.address, next.length, *one.at); break;
      }
    }
  }

  void rewrite(const task& one) {
    auto* instruction = one.at;
    const auto& first = one.reading.found.front();
    if (!one.reading.labelled.empty()) {
      instruction =
          hook_writer::with_text(*llvm::cast<llvm::CallBase>(instruction), one.reading.labelled);
    } else if (first.what == event::kind::flush) {
      instruction = writer_.flush_instruction(*llvm::cast<llvm::CallBase>(instruction),
                                              first.address, first.detail);
    }
    if (one.reading.skippable) writer_.flush_around(instruction, first.address, first.detail);
  }

  void refuse(llvm::Instruction& at, const std::string& why) {
    failed_ = true;
    const std::string text = "scute: " + why;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&at);
    if (call && call->isInlineAsm() && call->getMetadata("srcloc")) {
      function_.getContext().diagnose(llvm::DiagnosticInfoInlineAsm(at, text, llvm::DS_Error));
    } else {
      function_.getContext().diagnose(
          llvm::DiagnosticInfoUnsupported(function_, text, at.getDebugLoc(), llvm::DS_Error));
    }
  }

  llvm::Function& function_;
  llvm::FunctionAnalysisManager& analyses_;
  const options& asked_;
  const planted& bugs_;
  hook_writer& writer_;
  llvm::SmallVector<task, 8> tasks_;
  llvm::SmallVector<access, 32> accesses_;
  bool failed_ = false;
};

constexpr const char* done_name = "scute.shield";

}  // namespace

llvm::PreservedAnalyses shield_pass::run(llvm::Module& module,
                                         llvm::ModuleAnalysisManager& manager) {
  // It may be loaded twice: by scute-cc, and by the build system's flags.
  if (module.getNamedMetadata(done_name)) return llvm::PreservedAnalyses::all();
  module.getOrInsertNamedMetadata(done_name);
  const auto refuse = [&](const std::string& why) {
    module.getContext().emitError("scute: " + why);
  };
  const llvm::Triple triple(module.getTargetTriple());
  if (triple.getArch() != llvm::Triple::x86_64 || !triple.isOSBinFormatELF()) {
    refuse("only x86-64 and ELF can be instrumented, and not " + triple.str());
    return llvm::PreservedAnalyses::none();
  }
  if (const auto offence = module_asm_offence(module.getModuleInlineAsm()); !offence.empty())
    refuse("'" + offence +
           "' in assembly at file scope cannot be instrumented; put it into a function's asm");
  auto& functions =
      manager.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
  hook_writer writer(module);
  for (auto& function : module) {
    if (function.isDeclaration() || function.hasAvailableExternallyLinkage()) continue;
    instrumentation(function, functions, asked_, bugs_, writer).run();
  }
  add_mark(module, asked_);
  return llvm::PreservedAnalyses::none();
}

}  // namespace scute_pass
