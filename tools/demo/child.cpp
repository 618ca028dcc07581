// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

extern char** environ;

namespace scute_demo {

namespace {

[[noreturn]] void throw_errno(int error, const std::string& what) {
  throw std::runtime_error(what + ": " + std::generic_category().message(error));
}

// stdout (and stderr with errors_too) goes to `output`.
pid_t start(const command& arguments, int output, bool errors_too) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (errors_too) posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw_errno(error, arguments[0]);
  return pid;
}

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int wait_for_exit(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw_errno(errno, "waitpid");
  }
  return exit_status(status);
}

int open_log(const std::string& log) {
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) throw_errno(errno, log);
  return fd;
}

}  // namespace

std::string command_text(const command& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
  return text;
}

child::child(const command& arguments, const std::string& log) {
  const int output = open_log(log);
  pid_ = start(arguments, output, true);
  close(output);
  // A file descriptor of the process: unlike its number it can be waited for with a timeout.
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) {
    const int error = errno;
    kill();
    throw_errno(error, "pidfd_open");
  }
}

child::~child() {
  kill();
  if (pidfd_ >= 0) close(pidfd_);
}

bool child::wait_for(std::chrono::nanoseconds time) {
  if (pid_ < 0) return true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec timeout{static_cast<time_t>(seconds.count()),
                         static_cast<long>((time - seconds).count())};
  pollfd wait{pidfd_, POLLIN, 0};
  if (ppoll(&wait, 1, &timeout, nullptr) == 1) finished(wait_for_exit(pid_));
  return pid_ < 0;
}

bool child::kill() {
  if (pid_ < 0) return false;
  ::kill(pid_, SIGKILL);
  const int status = wait_for_exit(pid_);
  finished(status);
  return status == 128 + SIGKILL;
}

int child::wait() {
  if (pid_ >= 0) finished(wait_for_exit(pid_));
  return status_;
}

void child::finished(int status) {
  pid_ = -1;
  status_ = status;
}

int run(const command& arguments, const std::string& log) {
  return child(arguments, log).wait();
}

pipe_reader::pipe_reader(const command& arguments) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno(errno, "pipe");
  try {
    pid_ = start(arguments, ends[1], false);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  stream_ = fdopen(ends[0], "r");
  if (stream_ == nullptr) throw_errno(errno, "fdopen");
}

pipe_reader::~pipe_reader() {
  std::free(buffer_);
  std::fclose(stream_);  // a writer that still runs ends by SIGPIPE
  if (pid_ >= 0) wait_for_exit(pid_);
}

bool pipe_reader::read_line(std::string& line) {
  const ssize_t length = getline(&buffer_, &capacity_, stream_);
  if (length < 0) return false;
  const bool newline = length > 0 && buffer_[length - 1] == '\n';
  line.assign(buffer_, static_cast<size_t>(newline ? length - 1 : length));
  return true;
}

std::string pipe_reader::read_all() {
  std::string all;
  std::array<char, 65536> part{};
  while (const size_t got = std::fread(part.data(), 1, part.size(), stream_))
    all.append(part.data(), got);
  return all;
}

int pipe_reader::wait() {
  const int status = wait_for_exit(pid_);
  pid_ = -1;
  return status;
}

}  // namespace scute_demo
