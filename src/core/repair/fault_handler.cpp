// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/fault_handler.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/failure.hpp"
#include "base/locks/waiting.hpp"
#include "base/process/process.hpp"
#include "base/process/thread_block.hpp"
#include "base/process/thread_signals.hpp"
#include "base/process/uncancelled.hpp"
#include "base/rounding.hpp"
#include "core/repair/page_layout.hpp"
#include "core/repair/passed_on.hpp"
#include "core/shared/pool/library_call.hpp"

namespace scute::core::repair {
namespace {

constexpr int domains_max = 1024;
// FAULT-3; another thread's repair ends within this many faults.
constexpr unsigned retries_max = 1000;

struct domain {
  std::atomic<const std::byte*> base{nullptr};  // null: the place is free
  uint64_t size = 0;
  pool::state* s = nullptr;
  page_repairer* repairer = nullptr;
};
std::array<domain, domains_max> domains;
std::atomic<int> domains_used{0};          // places that were ever taken
std::atomic<uint64_t> domains_process{0};  // the process that owns them (FAULT-5)

constinit passed_on of_bus, of_segv;

// The address of this thread's last fault on a readable page, and how often it occurred in a row.
// It is in a word and not in the thread's block, since that may be lent for the time of one fault.
class last_fault {
 public:
  static unsigned times(const void* address) noexcept {
    const uint64_t at = reinterpret_cast<uint64_t>(address) << count_bits;
    if ((word_ & ~count_mask) != at) word_ = at;
    return static_cast<unsigned>(++word_ & count_mask);
  }
  static void forget() noexcept { word_ = 0; }

 private:
  static constexpr unsigned count_bits = 10;
  static constexpr uint64_t count_mask = (1u << count_bits) - 1;
  static_assert(retries_max <= count_mask);
  static inline thread_local constinit uint64_t word_ __attribute__((tls_model("initial-exec"))) =
      0;
};

const domain* find(const std::byte* address) noexcept {
  if (domains_process.load(std::memory_order_acquire) != this_process()) return nullptr;
  const int n = domains_used.load(std::memory_order_acquire);
  for (int i = 0; i < n; ++i) {
    const std::byte* base = domains[i].base.load(std::memory_order_acquire);
    if (base != nullptr && address >= base && address < base + domains[i].size) return &domains[i];
  }
  return nullptr;
}

// Whether no commit that was decided is still being applied.
bool commits_rest(const pool::state& s) noexcept {
  for (const auto& l : s.lanes)
    if (l.applied.load(std::memory_order_acquire) < l.begun.load(std::memory_order_acquire))
      return false;
  return true;
}

// FAULT-4: whether the offset is in no fragment, or in a sound one. A fragment that another thread
// is committing looks damaged for a moment, or for as long as that thread is off the CPU. So it is
// tested again.
bool sound_at(const pool::state& s, uint64_t offset) noexcept {
  const uint64_t page = round_down(offset, format::page);
  if (!s.has_checksums || !s.geo.in_data(page, format::page)) return true;
  constexpr unsigned looks = turns_before_sleep + 50;  // 31 ms
  constexpr unsigned looks_max = turns_before_sleep + 10'000;
  unsigned spins = 0;
  for (unsigned all = 0, rested = 0; rested < looks && all < looks_max; ++all, spin_pause(spins)) {
    bool sound = true;
    for_each_fragment(s, page, [&](const fragment_in_page& f) {
      const auto& g = f.fragment;
      if ((offset >= g.header && offset < g.header + format::header_size) ||
          (offset >= g.payload && offset < g.payload + g.room))
        sound = sound && pool::valid(s, g);
    });
    if (sound) return true;
    if (commits_rest(s)) ++rested;
  }
  return false;
}

void complain(const pool::state& s, uint64_t page) noexcept {
  char digits[20];
  char* at = digits + sizeof digits;
  do *--at = static_cast<char>('0' + page % 10);
  while ((page /= 10) != 0);
  const auto say = [](const char* text, size_t n) {
    if (::write(STDERR_FILENO, text, n) < 0) return;
  };
  const auto say_all = [&](const char* text) { say(text, std::strlen(text)); };
  say_all("scute: ");
  say_all(s.path.c_str());
  say_all(": the page at file offset ");
  say(at, static_cast<size_t>(digits + sizeof digits - at));
  say_all(
      " is lost beyond repair and cannot be read. Open the pool again and run `scute check` to see "
      "what is lost\n");
}

extern "C" void on_fault(int signal, siginfo_t* info, void* context) {
  const int keep = errno;
  // FAULT-6. The kernel restores the signal mask when this returns.
  unblock_faults();
  const bool handled = handle_fault(signal, *info);
  errno = keep;
  if (handled) return;
  (signal == SIGBUS ? of_bus : of_segv)
      .pass(signal, info, context, __builtin_return_address(0));  // FAULT-1
}

void install_once() SCUTE_REQUIRES(process_tables()) {
  static uint64_t installed_in = 0;  // process
  if (installed_in == this_process()) return;
  of_bus.install(SIGBUS, &on_fault);
  of_segv.install(SIGSEGV, &on_fault);
  installed_in = this_process();
}

// FAULT-5
void take_over() noexcept SCUTE_REQUIRES(process_tables()) {
  const uint64_t process = this_process();
  if (domains_process.load(std::memory_order_relaxed) == process) return;
  for (domain& d : domains) d.base.store(nullptr, std::memory_order_relaxed);
  domains_process.store(process, std::memory_order_release);
}

}  // namespace

fault_domain::fault_domain(pool::state& s, page_repairer& repairer, bool install) : place_(-1) {
  const locked hold(process_tables());
  if (install) install_once();
  take_over();
  for (int i = 0; i < domains_max && place_ < 0; ++i) {
    if (domains[i].base.load(std::memory_order_relaxed) != nullptr) continue;
    domains[i].size = s.medium->size();
    domains[i].s = &s;
    domains[i].repairer = &repairer;
    domains[i].base.store(s.medium->base(), std::memory_order_release);
    if (i >= domains_used.load()) domains_used.store(i + 1, std::memory_order_release);
    place_ = i;
  }
  if (place_ < 0)
    throw failure(SCUTE_E_UNSUPPORTED, "more than " + std::to_string(domains_max) +
                                           " pools are open in this process; close some first");
}

fault_domain::~fault_domain() {
  const locked hold(process_tables());
  domains[place_].base.store(nullptr, std::memory_order_release);
}

bool handle_fault(int signal, const siginfo_t& info) noexcept {
  const auto* address = static_cast<const std::byte*>(info.si_addr);
  if (info.si_code <= 0) return false;  // sent by a process (FAULT-2)
  if (signal == SIGSEGV ? info.si_code != SEGV_ACCERR : signal != SIGBUS) return false;
  const domain* d = find(address);
  if (d == nullptr) return false;
  const uncancelled now;
  const lent_thread_block mine;
  medium::medium& m = *d->s->medium;
  const auto offset = static_cast<uint64_t>(address - d->base.load(std::memory_order_relaxed));
  const uint64_t page = round_down(offset, format::page);
  if (signal == SIGBUS && info.si_code == BUS_MCEERR_AO) {
    m.revoke_page(page);
    return true;
  }
  if (!m.is_revoked(page)) {
    // FAULT-3
    std::byte probe[64];
    const bool readable = m.read(page + round_down(offset - page, 64), probe, sizeof probe);
    if (readable && last_fault::times(address) < (signal == SIGBUS ? 3 : retries_max)) return true;
    if (signal == SIGSEGV) return false;  // the library has not revoked the access
    m.revoke_page(page);
  }
  last_fault::forget();
  if (page_repairer::second_loss(page)) return true;
  const bool within = pool::library_depth != 0;
  using then = page_repairer::beyond_repair;
  const auto outcome =
      d->repairer->repair(page, within ? then::condoned : then::revoked, SCUTE_FINDER_FAULT);
  if (within) return outcome == page_repairer::outcome::readable || !m.is_revoked(page);
  if (outcome == page_repairer::outcome::readable && sound_at(*d->s, offset)) return true;
  complain(*d->s, page);
  return false;
}

}  // namespace scute::core::repair
