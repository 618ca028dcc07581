// SPDX-License-Identifier: BSD-3-Clause
// child.hpp: programs that the demo starts, feeds on, and kills.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace scute_demo {

using command = std::vector<std::string>;

std::string command_text(const command& arguments);

// Runs in the background with its output, errors included, appended to a file.
class child {
 public:
  child(const command& arguments, const std::string& log);
  ~child();  // kills it if it still runs
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // True: it ended by itself within that time.
  bool wait_for(std::chrono::nanoseconds time);

  // SIGKILL. False: it had ended by itself before.
  bool kill();

  // Waits. Its exit status, or 128 + the signal that ended it.
  int wait();

 private:
  void finished(int status);

  pid_t pid_;
  int pidfd_;
  int status_ = -1;
};

// Runs to its end, with its output appended to a file.
int run(const command& arguments, const std::string& log);

// Reads a program's output. Throws std::runtime_error if the program cannot be started.
class pipe_reader {
 public:
  explicit pipe_reader(const command& arguments);
  ~pipe_reader();
  pipe_reader(const pipe_reader&) = delete;
  pipe_reader& operator=(const pipe_reader&) = delete;

  // False at the end. The line comes without its newline.
  bool read_line(std::string& line);

  std::string read_all();

  // Its exit status, once all was read.
  int wait();

 private:
  pid_t pid_ = -1;
  std::FILE* stream_ = nullptr;
  char* buffer_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace scute_demo
