// SPDX-License-Identifier: BSD-3-Clause
// One run of one program on a view, in one order of its threads.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "program.hpp"
#include "testing/scheduler.hpp"
#include "viewed_file.hpp"
#include "x86_program.hpp"

namespace scute::view_tests {

class program_run {
 public:
  program_run(const program_kind& k, uint64_t seed);

  // Ends at the first violation.
  void run();
  const std::string& wrong() const noexcept { return wrong_; }
  uint64_t states() const noexcept { return states_; }
  // The program and its order, for stories.
  std::string story() const;

 private:
  void body(unsigned thread);
  bool touched(uint64_t offset);
  void perform(unsigned thread, const instruction& i);
  void flush(unsigned thread, uint64_t line, uint64_t n);
  void pass(unsigned thread);
  void handler(unsigned thread);
  void verify(const char* when);
  void die(const char* when);
  void write_back_copy(bool commit, const char* when);
  void note(std::string text) {
    if (wrong_.empty()) wrong_ = std::move(text);
  }
  static void pass_in(void* self);
  static void wait_in(void* self);
  void set_hooks(bool waits, bool passes);

  const program_kind kind_;
  std::mt19937_64 random_;
  viewed_file file_;
  std::unique_ptr<viewed_file> copy_;
  std::vector<instruction> program_[2];
  testing::schedule order_;
  testing::scheduler turns_;
  std::unique_ptr<x86_program> reference_;
  view::flusher flushers_[2];
  std::vector<size_t> kept_;  // by line: the version that a completed flush has seen
  bool deferred_[2] = {}, in_handler_[2] = {}, noted_[2] = {}, inside_[2] = {};
  bool loading_ = false, alone_ = false;
  unsigned windows_[2] = {};
  uint64_t value_ = 0, states_ = 0, passes_ = 0;
  std::atomic<bool> published_ = false;
  bool quiet_ = false;  // the run's own actions are no part of the program
  std::string wrong_;
};

}  // namespace scute::view_tests
