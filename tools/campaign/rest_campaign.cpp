// SPDX-License-Identifier: BSD-3-Clause
#include "rest_campaign.hpp"

#include "image.hpp"
#include "progress_line.hpp"
#include "trial.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

namespace scute_campaign {

namespace {

constexpr unsigned processes_max = 64;

struct shared_board {
  std::atomic<uint32_t> next;  // cell to be taken
  std::atomic<uint64_t> work_done;
  struct place {
    std::atomic<uint32_t> cell, trial;
  } at[processes_max];
  cell_result results[1];  // one per cell
};

struct unmap {
  size_t size;
  void operator()(shared_board* b) const noexcept { munmap(b, size); }
};

std::unique_ptr<shared_board, unmap> make_board(size_t cells) {
  const size_t size = sizeof(shared_board) + cells * sizeof(cell_result);
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return {new (at) shared_board, unmap{size}};
}

// About how long a trial takes, in parts of one without damage.
uint64_t cost(const settings& how, const cell& c) {
  const double errors = static_cast<double>(how.size) * 8 * c.rate;
  const bool decodes = c.level >= SCUTE_PROTECT_MLP;
  return static_cast<uint64_t>(100 +
                               std::min(errors, 5000.0) * (decodes ? 0.2 + 0.006 * c.rows : 0.1));
}

void note(cell_result& r, const outcome& o, unsigned number) {
  ++r.trials;
  r.all_back += o.all_back() ? 1 : 0;
  r.all_survivable += o.survivable == o.objects ? 1 : 0;
  r.within += o.within ? 1 : 0;
  r.within_back += o.within && o.all_back() ? 1 : 0;
  r.refused_opens += o.opened ? 0 : 1;
  r.errors += o.errors;
  r.errors_beside += o.errors_beside;
  r.objects += o.objects;
  r.right += o.right;
  r.refused += o.refused;
  r.unchecked += o.unchecked;
  r.silent += o.silent;
  r.survivable += o.survivable;
  r.saved_besides += o.saved_besides;
  if (o.broken.empty()) return;
  if (r.broken++ != 0) return;
  r.broken_first = number;
  std::strncpy(r.broken_text, o.broken.c_str(), sizeof r.broken_text - 1);
}

// One process: takes cell after cell. Neighbours in the grid have the same image.
void work(const settings& how, const std::vector<cell>& cells, shared_board& board, unsigned me) {
  std::optional<image> made;
  const cell* made_for = nullptr;
  for (;;) {
    const uint32_t i = board.next.fetch_add(1);
    if (i >= cells.size()) return;
    const cell& c = cells[i];
    board.at[me].cell = i;
    if (made_for == nullptr || made_for->level != c.level || made_for->rows != c.rows) {
      made.emplace(how, c.level, c.rows);
      made_for = &c;
    }
    trial t(*made, how, c);
    const unsigned first = how.trial >= 0 ? static_cast<unsigned>(how.trial) : 0;
    const unsigned last = how.trial >= 0 ? first + 1 : how.trials;
    for (unsigned k = first; k < last; ++k) {
      board.at[me].trial = k;
      note(board.results[i], t.run(k), k);
      board.work_done.fetch_add(cost(how, c));
    }
  }
}

int child(const settings& how, const std::vector<cell>& cells, shared_board& board, unsigned me) {
  try {
    work(how, cells, board, me);
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "\nscute-campaign: {}\n", e.what());
    return 1;
  }
}

}  // namespace

std::vector<cell> grid(const settings& how) {
  std::vector<cell> cells;
  for (const auto level : how.levels)
    for (const uint32_t rows : how.rows)
      for (const uint32_t bits : how.bits)
        for (const double rate : how.rates) cells.push_back({level, rows, bits, rate});
  if (!how.only.empty()) std::erase_if(cells, [&](const cell& c) { return c.name() != how.only; });
  if (cells.empty())
    throw std::runtime_error("the grid has no cell " + how.only + "; one is called " +
                             cell{SCUTE_PROTECT_MLPC, 20, 8, 1e-6}.name());
  return cells;
}

std::vector<cell_report> run_at_rest(const settings& how, const std::vector<cell>& cells) {
  const auto board = make_board(cells.size());
  uint64_t all = 0;
  const uint64_t trials = how.trial >= 0 ? 1 : how.trials;
  for (const cell& c : cells) all += cost(how, c) * trials;
  const unsigned n = std::min({how.processes, processes_max, static_cast<unsigned>(cells.size())});
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < n; ++i) {
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) _exit(child(how, cells, *board, i));
    children.push_back(pid);
  }
  progress_line line(how.quiet);
  for (size_t left = n; left != 0;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      --left;
      if (status == 0) continue;
      const auto me =
          static_cast<size_t>(std::find(children.begin(), children.end(), pid) - children.begin());
      const auto& at = board->at[me];
      cell_result& r = board->results[at.cell];
      outcome o;
      o.broken = WIFSIGNALED(status)
                     ? fmt::format("the process died of signal {}", WTERMSIG(status))
                     : "the process gave up";
      note(r, o, at.trial);
      continue;
    }
    usleep(100'000);
    const uint32_t next = std::min<uint32_t>(board->next, static_cast<uint32_t>(cells.size()));
    line.show(
        static_cast<double>(board->work_done) / static_cast<double>(all),
        fmt::format("{} of {} cells, {}", next, cells.size(), cells[next - (next != 0)].name()));
  }
  line.clear();
  std::vector<cell_report> reports;
  for (size_t i = 0; i < cells.size(); ++i) reports.push_back({cells[i], board->results[i]});
  return reports;
}

}  // namespace scute_campaign
