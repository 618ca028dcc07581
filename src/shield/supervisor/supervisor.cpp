// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "shield/supervisor/launch.hpp"
#include "shield/supervisor/site_report.hpp"

namespace scute::core::supervisor {
namespace {

// All signals that can be meant for a program. (Faults are the supervisor's own. A shell sends job
// control signals to the whole group.)
sigset_t set_of_handled() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE,
                      SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGURG, SIGWINCH})
    ::sigaddset(&set, s);
  for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) ::sigaddset(&set, s);
  return set;
}

// A terminal sends its signals to the program too. A signal that the supervisor's own write raises
// is not meant for the program.
bool is_meant_for_program(const signalfd_siginfo& s) {
  const auto number = static_cast<int>(s.ssi_signo);
  const bool of_terminal =
      number == SIGINT || number == SIGQUIT || number == SIGHUP || number == SIGWINCH;
  if (s.ssi_code > 0 && of_terminal) return false;
  return !((number == SIGPIPE || number == SIGXFSZ) &&
           (s.ssi_code > 0 || static_cast<pid_t>(s.ssi_pid) == ::getpid()));
}

// Blocks the signals that the supervisor reads from a descriptor; the program inherits the mask
// from before. Ignores SIGPIPE, so that a reader that has closed its end does not kill the
// supervisor.
class signals_held {
 public:
  signals_held() {
    const sigset_t mine = set_of_handled();
    ::pthread_sigmask(SIG_BLOCK, &mine, &before_.blocked);
    struct sigaction none{};
    none.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &none, &before_.broken_pipe);
  }
  ~signals_held() {
    ::pthread_sigmask(SIG_SETMASK, &before_.blocked, nullptr);
    ::sigaction(SIGPIPE, &before_.broken_pipe, nullptr);
  }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;
  const signals_inherited& before() const noexcept { return before_; }

 private:
  signals_inherited before_{};
};

std::string unguessable_name() {
  uint64_t number[2] = {};
  if (::getrandom(number, sizeof number, 0) != sizeof number)
    throw_errno("get random bytes", errno);
  return "scute-shield-" + std::to_string(::getpid()) + "-" + std::to_string(number[0]) +
         std::to_string(number[1]);
}

bool is_at_end(int connection) {
  pollfd p{connection, POLLIN | POLLRDHUP, 0};
  return ::poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

void close_if_open(int fd) {
  if (fd >= 0) ::close(fd);
}

}  // namespace

supervisor::supervisor(const scute_shield_run_options& options) : options_(options) {}

supervisor::~supervisor() {
  for (image& i : images_) {
    close_if_open(i.connection);
    close_if_open(i.pidfd);
    for (auto& [number, view] : i.views) {
      close_if_open(view.head);
      close_if_open(view.bytes);
    }
  }
  close_if_open(listening_);
  close_if_open(signals_);
}

scute_shield_outcome supervisor::run(const char* const* argv) {
  const signals_held held;
  const sigset_t mine = set_of_handled();
  signals_ = ::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw_errno("take signals from a descriptor", errno);
  listen();
  // Orphaned children of the program become ours, and we learn how they end.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  child_ = launch(argv, options_, name_, held.before());
  while (!child_ended_ || !images_.empty()) serve();
  reap();
  outcome_.struct_size = sizeof outcome_;
  return outcome_;
}

void supervisor::listen() {
  name_ = unguessable_name();
  const address a = abstract_address(name_);
  listening_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  constexpr int waiting_max = 128;
  if (listening_ < 0 ||
      ::bind(listening_, reinterpret_cast<const sockaddr*>(a.bytes), a.length) != 0 ||
      ::listen(listening_, waiting_max) != 0)
    throw_errno("open a socket for shielded programs", errno);
}

void supervisor::serve() {
  std::vector<pollfd> all{{signals_, POLLIN, 0}, {listening_, POLLIN, 0}};
  for (const image& i : images_) all.push_back({i.connection, POLLIN | POLLRDHUP, 0});
  if (::poll(all.data(), all.size(), -1) < 0) {
    if (errno == EINTR) return;
    throw_errno("wait for shielded programs", errno);
  }
  size_t k = 2;
  // Ended images stay in the list until here: an answer may end others.
  for (image& i : images_)
    if (all[k++].revents != 0 && !i.ended && !answer_one(i)) end_image(i);
  images_.remove_if([](const image& i) { return i.ended; });
  // After these ends: an ended process closed its connection first. So the order is the same on any
  // machine, and the process still exists for take_signals() (END-2).
  if (all[0].revents != 0) take_signals();
  if (all[1].revents != 0) accept_image();
}

void supervisor::accept_image() {
  image i;
  i.connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (i.connection < 0) return;  // it has disconnected
  ucred who{};
  socklen_t n = sizeof who;
  if (::getsockopt(i.connection, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 ||
      who.uid != ::geteuid()) {
    ::close(i.connection);
    return;
  }
  i.pid = who.pid;
  i.pidfd = static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0));
  images_.push_back(std::move(i));
}

bool supervisor::answer_one(image& i) {
  packet p;
  int descriptors[2] = {-1, -1};
  size_t count = 2;
  if (!receive_packet(i.connection, p, descriptors, count)) {
    for (size_t k = 0; k < count; ++k) ::close(descriptors[k]);
    return errno == EAGAIN || errno == EPROTO;
  }
  packet reply;
  reply.kind = p.kind;
  reply.value = answer(i, p, {descriptors, count}, reply);
  send_packet(i.connection, reply, nullptr, 0);  // a closed peer is noticed at the next poll
  return true;
}

int supervisor::answer(image& i, const packet& p, std::span<const int> descriptors, packet& reply) {
  switch (p.kind) {
    case question::hello: return 0;
    case question::claim:
      write_back_ended(p.device, p.inode);
      return claim(i, {p.device, p.inode}, std::string(p.path, p.path_length));
    case question::disclaim: disclaim(i, {p.device, p.inode}); return 0;
    case question::hold: {
      if (descriptors.size() != 2) break;
      ++outcome_.views;
      i.views[p.view] = {std::string(p.path, p.path_length), p.device, p.inode, descriptors[0],
                         descriptors[1]};
      remember(i.views[p.view]);
      return 0;
    }
    case question::whose: return find_owner(p.device, p.inode, reply);
    case question::release: {
      const auto found = i.views.find(p.view);
      if (found == i.views.end()) return ENOENT;
      scute_shield_counts audit = p.audit;
      report(i, found->second, 0, audit);
      ::close(found->second.head);
      ::close(found->second.bytes);
      const file_key key{found->second.device, found->second.inode};
      i.views.erase(found);
      disclaim(i, key);
      return 0;
    }
  }
  for (const int descriptor : descriptors) ::close(descriptor);
  return EINVAL;
}

int supervisor::claim(image& i, const file_key& key, const std::string& path) {
  if (i.claims.contains(key)) return 0;
  kept_file& kept = kept_[key];
  const int why = kept.lock.is_taken() ? 0 : kept.lock.take(path + ".scute");
  // A process that may not write to FILE.scute leaves nothing in it; and the program itself finds
  // out whether the file exists.
  if (why != 0 && why != EACCES && why != EPERM && why != EROFS && why != ENOENT) {
    if (kept.images == 0) kept_.erase(key);
    return why;
  }
  ++kept.images;
  i.claims.insert(key);
  return 0;
}

void supervisor::disclaim(image& i, const file_key& key) {
  for (const auto& [number, view] : i.views)
    if (file_key{view.device, view.inode} == key) return;
  if (i.claims.erase(key) == 0) return;
  const auto kept = kept_.find(key);
  if (kept != kept_.end() && --kept->second.images == 0) kept_.erase(kept);
}

void supervisor::remember(const held_view& view) {
  struct stat s{};
  if (::fstat(view.bytes, &s) != 0) return;
  known_.push_front({s.st_dev, s.st_ino, view.path, view.device, view.inode});
  if (known_.size() > known_max) known_.pop_back();
}

// SUPER-4
int supervisor::find_owner(uint64_t device, uint64_t inode, packet& reply) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const known_view& k) {
    return k.device == device && k.inode == inode;
  });
  if (found == known_.end()) return ENOENT;
  write_back_ended(found->file_device, found->file_inode);
  for (const image& i : images_)
    for (const auto& [number, view] : i.views) {
      struct stat s{};
      if (::fstat(view.bytes, &s) == 0 && s.st_dev == device && s.st_ino == inode) return EBUSY;
    }
  const std::string& path = found->path;
  reply.path_length = static_cast<uint32_t>(std::min(path.size(), sizeof reply.path - 1));
  std::memcpy(reply.path, path.data(), reply.path_length);
  return 0;
}

// SUPER-2
void supervisor::write_back_ended(uint64_t device, uint64_t inode) {
  for (image& i : images_) {
    bool has_it = false;
    for (const auto& [number, view] : i.views)
      has_it |= view.device == device && view.inode == inode;
    if (!has_it || i.ended || !is_at_end(i.connection)) continue;
    // Its last messages come first.
    while (answer_one(i)) {
    }
    end_image(i);
  }
}

void supervisor::end_image(image& i) {
  if (!i.views.empty()) {
    const image_end end = how_it_ended(i.pid, i.pidfd);
    for (auto& [number, view] : i.views) {
      scute_shield_counts audit{};
      try {
        const bool keep =
            !is_fault(end.signal) && (options_.flags & SCUTE_SHIELD_DROP_UNFLUSHED) == 0;
        crash_writeback(view, keep, audit);
        ++outcome_.written_back;
        report(i, view, end.signal, audit);
      } catch (const failure& e) {
        ++outcome_.failed;
        if (options_.failed != nullptr) options_.failed(options_.arg, view.path.c_str(), e.what());
      }
      ::close(view.head);
      ::close(view.bytes);
    }
  }
  i.views.clear();
  while (!i.claims.empty()) disclaim(i, file_key(*i.claims.begin()));
  i.ended = true;
  ::close(std::exchange(i.connection, -1));
  close_if_open(std::exchange(i.pidfd, -1));
}

void supervisor::report(const image& i, const held_view& view, int signal,
                        scute_shield_counts& audit) {
  audit.struct_size = sizeof audit;
  audit.file = view.path.c_str();
  audit.process = static_cast<uint32_t>(i.pid);
  audit.signal = signal;
  const std::string unreported = report_sites(view, audit.process, options_, audit);
  audit.unreported_objects = unreported.c_str();
  if (options_.audit != nullptr) options_.audit(options_.arg, &audit);
}

void supervisor::take_signals() {
  signalfd_siginfo s{};
  while (::read(signals_, &s, sizeof s) == sizeof s) {
    if (s.ssi_signo == SIGCHLD) {
      siginfo_t info{};
      if (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
          info.si_pid == child_) {
        child_ended_ = true;
        outcome_.how = info.si_code == CLD_EXITED ? SCUTE_SHIELD_EXITED : SCUTE_SHIELD_SIGNALED;
        outcome_.value = info.si_status;
      }
      continue;
    }
    if (is_meant_for_program(s) && !child_ended_) ::kill(child_, static_cast<int>(s.ssi_signo));
  }
}

// Reaps the children; their statuses were needed until now.
void supervisor::reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace scute::core::supervisor
