// SPDX-License-Identifier: BSD-3-Clause
#include "attempt.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <deque>
#include <sstream>
#include <stdexcept>

#include "testing/watchdog.hpp"

namespace scute {
namespace {

constexpr size_t at_a_time = 2;

// The report of the child at its end. Before it there may be last words of the library, and now
// and then the number of states verified so far.
constexpr char mark[] = "\n\x01outcome ", progress_mark[] = "\n\x01states ";
constexpr uint64_t progress_step = 500;  // at least
constexpr double hang_seconds = 120;     // of one state, on a machine that is busy

void say(int to, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(to, text.data() + done, text.size() - done);
    if (n < 0) ::_exit(3);
    done += static_cast<size_t>(n);
  }
}

[[noreturn]] void explore_in_child(const attempt& a, int to) {
  ::dup2(to, STDERR_FILENO);
  // Of a processor, so that other processes take nothing from it. (A thread that sleeps for ever is
  // the watchdog's.)
  const itimerval most{{}, {static_cast<time_t>(a.seconds_max), 0}};
  ::setitimer(ITIMER_PROF, &most, nullptr);
  outcome o;
  try {
    planted::active = a.bug.which;
    testing::explore_options how;
    how.states = a.states;
    how.thorough = true;
    how.hang_seconds = hang_seconds;
    how.progress = [to](const testing::progress& p) {
      say(to, progress_mark + std::to_string(p.states) + "\n");
    };
    const auto r = a.scenario->explore(how);
    o.caught = !r.sound;
    o.states = r.states;
    o.story = r.story;
  } catch (const std::exception& error) {
    o.caught = true;  // the scenario could not even be set up
    o.story = error.what();
  }
  say(to, mark + std::to_string(o.caught) + " " + std::to_string(o.states) + "\n" + o.story);
  ::_exit(0);
}

class child {
 public:
  explicit child(const attempt& a) : what(a) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      ::close(ends[0]);
      explore_in_child(a, ends[1]);
    }
    ::close(ends[1]);
    fd = ends[0];
  }

  void receive() {
    char buffer[65536];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return;
    if (n > 0)
      text_.append(buffer, static_cast<size_t>(n));
    else
      end();
  }
  void give_up() {
    if (fd < 0) return;
    ::kill(pid_, SIGKILL);
    end();
  }

  attempt what;
  outcome result;
  int fd = -1;  // until its end

 private:
  using clock = std::chrono::steady_clock;
  void end() {
    ::close(fd);
    fd = -1;
    result.seconds = std::chrono::duration<double>(clock::now() - begun_).count();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    const size_t at = text_.rfind(mark);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || at == std::string::npos) {
      result.hung = (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) ||
                    text_.find(testing::watchdog::hung) != std::string::npos;
      result.caught = result.died = !result.hung;
      const size_t reported = text_.rfind(progress_mark);
      const uint64_t states = reported == std::string::npos
                                  ? 0
                                  : std::stoull(text_.substr(reported + sizeof progress_mark - 1));
      result.states = std::min(states + 2 * progress_step, what.states);
      result.story = text_;
      result.asserted = result.died && text_.find("internal error at") != std::string::npos;
      return;
    }
    std::istringstream in(text_.substr(at + sizeof mark - 1));
    in >> result.caught >> result.states;
    in.ignore();
    std::getline(in, result.story, '\0');
  }

  pid_t pid_ = -1;
  const clock::time_point begun_ = clock::now();
  std::string text_;
};

}  // namespace

void run_attempts(const std::vector<attempt>& all,
                  const std::function<bool(const attempt&, const outcome&)>& report) {
  std::deque<child> children;  // running, or to be reported after one that is
  size_t next = 0;
  for (;;) {
    size_t running = 0;
    for (const child& c : children) running += c.fd >= 0;
    for (; running < at_a_time && next < all.size(); ++running) children.emplace_back(all[next++]);
    if (children.empty()) return;
    std::vector<pollfd> waits;
    for (const child& c : children) waits.push_back({c.fd, POLLIN, 0});
    ::poll(waits.data(), waits.size(), -1);
    for (size_t i = 0; i < waits.size(); ++i)
      if ((waits[i].revents & (POLLIN | POLLHUP)) != 0) children[i].receive();
    while (!children.empty() && children.front().fd < 0) {
      if (!report(children.front().what, children.front().result)) {
        for (child& c : children) c.give_up();
        return;
      }
      children.pop_front();
    }
  }
}

}  // namespace scute
