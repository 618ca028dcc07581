// SPDX-License-Identifier: BSD-3-Clause
#include "loader.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

namespace scute_tool {

namespace {

class loading {
 public:
  loading(record_sink& store, line_source& source, const load_plan& plan, const interrupt& stop,
          progress& bar)
      : store_(store), source_(source), plan_(plan), stop_(stop), bar_(bar) {}

  load_result run() {
    const auto began = std::chrono::steady_clock::now();
    if (!plan_.restart) resume();
    while (!result_.interrupted && load_batch()) {
    }
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result_;
  }

 private:
  void resume() {
    const std::optional<load_state> state = store_.loaded(plan_.source);
    if (!state) return;
    result_.state = *state;
    result_.resumed_at = state->records;
    switch (source_.skip_to(state->position)) {
      case line_source::skip_result::same: return;
      case line_source::skip_result::interrupted: result_.interrupted = true; return;
      case line_source::skip_result::differs: break;
    }
    throw failure(exit_error, plan_.source,
                  fmt::format("its first {} bytes are not those of the {} records that were loaded "
                              "under this name; load it from the start with --restart, or under "
                              "another --name",
                              state->position.offset, state->records));
  }

  // False at the end of the source.
  bool load_batch() {
    std::vector<record> batch;
    line_source::result read = line_source::result::line;
    while (batch.size() < plan_.batch) {
      const source_position before = source_.position();
      std::string_view line;
      read = stop_.requested() ? line_source::result::interrupted : source_.next(line);
      if (read != line_source::result::line) break;
      if (line.empty()) continue;
      try {
        batch.push_back(parse_record(plan_.format, line));
      } catch (const std::invalid_argument& error) {
        commit(batch, before);
        throw failure(exit_error,
                      fmt::format("{}: record {}", plan_.source, result_.state.records + 1),
                      fmt::format("{}; those before it are loaded", error.what()));
      }
    }
    commit(batch, source_.position());
    result_.interrupted = read == line_source::result::interrupted;
    return read == line_source::result::line;
  }

  void commit(const std::vector<record>& batch, const source_position& position) {
    if (batch.empty()) return;
    const load_state next{.position = position, .records = result_.state.records + batch.size()};
    try {
      result_.added += store_.load(batch, plan_.source, next);
    } catch (const failure& error) {
      const char* const advice = error.code() == exit_full && batch.size() > 1
                                     ? "; a smaller --batch takes less room at a time"
                                     : "";
      throw failure(error.code(), error.what(),
                    fmt::format("{} records of {} are loaded{}", result_.state.records,
                                plan_.source, advice));
    }
    result_.state = next;
    result_.loaded += batch.size();
    ++result_.transactions;
    bar_.update("loading", position.offset, source_.size(), count_text(next.records) + " records");
  }

  record_sink& store_;
  line_source& source_;
  const load_plan& plan_;
  const interrupt& stop_;
  progress& bar_;
  load_result result_;
};

}  // namespace

load_result load(record_sink& store, line_source& source, const load_plan& plan,
                 const interrupt& stop, progress& bar) {
  return loading(store, source, plan, stop, bar).run();
}

}  // namespace scute_tool
