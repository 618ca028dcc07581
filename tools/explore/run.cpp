// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include "terminal_line.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace scute::explore {
namespace {

using clock = std::chrono::steady_clock;

// A child's report to its parent. A story follows the last message.
struct message {
  uint32_t last;  // 1: the exploration is over
  uint32_t sound;
  uint64_t states, recrashed, damaged, crash_points, interleavings;
  double seconds;
  uint64_t story;  // bytes
};

void send(int fd, const void* bytes, size_t n) {
  const auto* at = static_cast<const char*>(bytes);
  while (n != 0) {
    const ssize_t done = ::write(fd, at, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) ::_exit(3);  // the parent is gone
    at += done;
    n -= static_cast<size_t>(done);
  }
}

[[noreturn]] void work(const entry& e, const run_options& how, int fd) {
  message m{};
  std::string story;
  try {
    testing::explore_options o = how.each;
    if (!how.repeat.empty()) o.repeat_command = how.repeat + " " + e.name + " --only %s";
    o.progress = [&](const testing::progress& p) {
      message now{};
      now.states = p.states;
      send(fd, &now, sizeof now);
    };
    const testing::exploration r = e.explore(o);
    m = {1,         r.sound, r.states, r.recrashed, r.damaged, r.crash_points, r.interleavings,
         r.seconds, 0};
    story = r.story;
  } catch (const std::exception& error) {
    m.last = 1;
    story = "scenario \"" + e.name + "\": " + error.what() + "\n";
  }
  m.story = story.size();
  send(fd, &m, sizeof m);
  send(fd, story.data(), story.size());
  std::fflush(nullptr);
  ::_exit(0);
}

struct child {
  const entry* scenario = nullptr;
  pid_t pid = -1;
  int fd = -1;
  std::string received;
  message latest{};
};

child start(const entry& e, const run_options& how) {
  int pipe[2];
  if (::pipe(pipe) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid == 0) {
    ::close(pipe[0]);
    work(e, how, pipe[1]);
  }
  ::close(pipe[1]);
  child c;
  c.scenario = &e;
  c.pid = pid;
  c.fd = pipe[0];
  return c;
}

// Takes complete messages out of the received bytes; the last one leaves its story there.
void digest(child& c) {
  while (c.latest.last == 0 && c.received.size() >= sizeof(message)) {
    std::memcpy(&c.latest, c.received.data(), sizeof(message));
    c.received.erase(0, sizeof(message));
  }
}

void report(const child& c, int status, const run_options& how, summary& s) {
  const message& m = c.latest;
  const bool died = m.last == 0;
  ++s.scenarios;
  s.states += m.states;
  s.recrashed += m.recrashed;
  s.damaged += m.damaged;
  s.interleavings += m.interleavings;
  s.seconds += m.seconds;
  const bool sound = !died && m.sound != 0;
  if (!sound) ++s.violated;
  if (!sound || !how.quiet)
    fmt::print("{:<28} {:>9} {:>9} {:>8} {:>6} {:>5} {:>8.0f}  {}\n", c.scenario->name, m.states,
               m.recrashed, m.damaged, m.crash_points, m.interleavings,
               m.seconds > 0 ? static_cast<double>(m.states) / m.seconds : 0.0,
               sound ? "sound" : "VIOLATED");
  if (died)
    fmt::print("the process that explored it died ({} {})\n",
               WIFSIGNALED(status) ? "signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  else if (!sound)
    fmt::print("\n{}\n", c.received);
  std::fflush(stdout);
}

}  // namespace

summary run(const std::vector<entry>& scenarios, const run_options& how) {
  summary s;
  scute_tools::terminal_line line(stderr, false, clock::duration::zero());
  if (!how.quiet)
    fmt::print("{:<28} {:>9} {:>9} {:>8} {:>6} {:>5} {:>8}\n", "scenario", "states", "recrashed",
               "damaged", "points", "runs", "states/s");
  std::fflush(stdout);
  const auto begin = clock::now();
  std::vector<child> running;
  size_t next = 0;
  while (next < scenarios.size() || !running.empty()) {
    while (next < scenarios.size() && running.size() < std::max(how.jobs, 1u))
      running.push_back(start(scenarios[next++], how));
    std::vector<pollfd> waits;
    waits.reserve(running.size());
    for (const child& c : running) waits.push_back({c.fd, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 500);
    uint64_t in_progress = 0;
    for (size_t i = 0; i < waits.size(); ++i) {
      child& c = running[i];
      if ((waits[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      char buffer[65536];
      const ssize_t n = ::read(c.fd, buffer, sizeof buffer);
      if (n < 0) continue;
      c.received.append(buffer, static_cast<size_t>(n));
      digest(c);
      if (n != 0) continue;
      int status = 0;
      while (::waitpid(c.pid, &status, 0) < 0 && errno == EINTR) {
      }
      ::close(c.fd);
      c.fd = -1;
      line.clear();
      report(c, status, how, s);
    }
    std::erase_if(running, [](const child& c) { return c.fd < 0; });
    std::string names;
    for (const child& c : running) {
      in_progress += c.latest.states;
      names += " " + c.scenario->name;
    }
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    const auto total = static_cast<double>(s.states + in_progress);
    if (!line.is_due()) continue;
    line.show(fmt::format("{}/{} scenarios, {:.0f} states, {:.0f}/s:{}", s.scenarios,
                          scenarios.size(), total, seconds > 0 ? total / seconds : 0.0, names));
  }
  line.clear();
  return s;
}

}  // namespace scute::explore
