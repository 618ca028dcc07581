// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "results/results.hpp"

namespace scute::bench {
namespace {

using line = std::vector<std::string>;

// Width on the screen of UTF-8 text without wide or combining characters.
size_t width(const std::string& s) {
  return static_cast<size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string pad(const std::string& s, size_t n, bool right) {
  const std::string spaces(n - std::min(n, width(s)), ' ');
  return right ? spaces + s : s + spaces;
}

template <typename T>
void add_once(std::vector<T>& v, const T& x) {
  if (std::find(v.begin(), v.end(), x) == v.end()) v.push_back(x);
}

constexpr const char* peer = "libpmemobj";
constexpr const char* fair_peer = "libpmemobj-huge";  // both in huge pages

std::string times(const row& r, const std::vector<row>& rows, bool several, bool fair) {
  std::string out = human_time(r.ns_per_op);
  if (r.moved) out += fmt::format(", {:.2f} GB/s", static_cast<double>(*r.moved) / r.ns_per_op);
  if (r.untested) out += fmt::format(", {:.1f} % untested", *r.untested * 100);
  if (r.p50_ns && r.p99_ns)
    out += fmt::format(", p50 {}, p99 {}", human_time(*r.p50_ns), human_time(*r.p99_ns));
  out += fmt::format(" ±{:.0f}%", r.spread * 50);
  if (!several) return out;
  const row* other = find_peer(rows, r, fair ? fair_peer : peer);
  if (other != nullptr) out += fmt::format("  {:.2f}×", r.ns_per_op / other->ns_per_op);
  if (fair && (other = find_peer(rows, r, peer)) != nullptr)
    out += fmt::format(" ({:.2f}×)", r.ns_per_op / other->ns_per_op);
  return out;
}

// The heading that distinguishes the columns: maps or sizes, and distributions.
std::string column_of(const row& r) {
  if (!r.structure.empty() && r.distribution.empty()) return r.structure;
  if (!r.structure.empty()) return r.structure + ", " + r.distribution;
  return r.distribution.empty() ? human_size(r.size) : human_size(r.size) + ", " + r.distribution;
}

// The table of one work and number of threads: systems down, sizes or maps across.
struct table {
  std::string work;
  unsigned threads;
  std::vector<std::string> systems;
  std::vector<std::string> columns;
  std::vector<const row*> rows;

  const row* find(const std::string& system, const std::string& column) const {
    for (const row* r : rows)
      if (r->name() == system && column_of(*r) == column) return r;
    return nullptr;
  }
};

std::vector<table> split(const std::vector<row>& rows) {
  std::vector<table> tables;
  for (const row& r : rows) {
    if (r.sizes || r.load) continue;
    auto t = std::find_if(tables.begin(), tables.end(), [&](const table& x) {
      return x.work == r.work && x.threads == r.threads;
    });
    if (t == tables.end()) {
      tables.push_back({r.work, r.threads, {}, {}, {}});
      t = tables.end() - 1;
    }
    add_once(t->systems, r.name());
    add_once(t->columns, column_of(r));
    t->rows.push_back(&r);
  }
  std::stable_sort(tables.begin(), tables.end(),
                   [&](const table& a, const table& b) { return a.threads < b.threads; });
  return tables;
}

std::string counters(const table& t, style s) {
  std::vector<line> lines{{"counted"}};
  for (const std::string& column : t.columns) lines[0].push_back(column);
  for (const std::string& system : t.systems) {
    line l{system};
    bool any = false;
    for (const std::string& column : t.columns) {
      const row* r = t.find(system, column);
      any = any || (r != nullptr && r->per_op);
      l.push_back(r == nullptr || !r->per_op
                      ? ""
                      : fmt::format("{:.4g} / {:.4g} / {:.5g}", r->per_op->fences, r->per_op->lines,
                                    r->per_op->bytes()));
    }
    if (any) lines.push_back(l);
  }
  return lines.size() == 1 ? ""
                           : "Fences / cache lines / bytes per operation:\n\n" + render(lines, s);
}

}  // namespace

std::string render(const std::vector<line>& lines, style s) {
  std::vector<size_t> widths;
  for (const line& l : lines)
    for (size_t i = 0; i < l.size(); ++i) {
      if (widths.size() == i) widths.push_back(0);
      widths[i] = std::max(widths[i], width(l[i]));
    }
  std::string out;
  for (size_t n = 0; n < lines.size(); ++n) {
    const line& l = lines[n];
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string text = pad(i < l.size() ? l[i] : "", widths[i], i != 0);
      out += s == style::markdown ? "| " + text + " " : (i == 0 ? "  " : "   ") + text;
    }
    if (s == style::markdown) out += "|";
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += "\n";
    if (n == 0 && s == style::markdown) {
      for (size_t i = 0; i < widths.size(); ++i)
        out += i == 0 ? "| " + std::string(widths[i], '-') + " "
                      : "| " + std::string(widths[i] - 1, '-') + ": ";
      out += "|\n";
    }
  }
  return out;
}

std::string human_size(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t u = 0;
  while (u + 1 < std::size(units) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++u;
  }
  return fmt::format("{} {}", bytes, units[u]);
}

std::string human_time(double ns) {
  if (ns < 9.95) return fmt::format("{:.1f} ns", ns);
  if (ns < 10'000) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} µs", ns / 1e3);
  return ns < 1e9 ? fmt::format("{:.2f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

const row* find_peer(const std::vector<row>& rows, const row& like, const std::string& name) {
  for (const row& r : rows)
    if (r.same_case(like) && r.name() == name) return &r;
  return nullptr;
}

std::string to_tables(const std::vector<row>& rows, style s) {
  std::string out;
  for (const table& t : split(rows)) {
    const auto has = [&t](const char* name) {
      return std::find(t.systems.begin(), t.systems.end(), name) != t.systems.end();
    };
    const bool fair = has(fair_peer);
    const std::string head =
        fmt::format("{}, {} thread{}", t.work, t.threads, t.threads == 1 ? "" : "s");
    out += s == style::markdown ? "### " + head + "\n\n" : head + "\n\n";
    std::vector<line> lines{{fair        ? "× of libpmemobj-huge (of libpmemobj)"
                             : has(peer) ? "× of libpmemobj"
                                         : ""}};
    for (const std::string& column : t.columns) lines[0].push_back(column);
    for (const std::string& system : t.systems) {
      line l{system};
      for (const std::string& column : t.columns) {
        const row* r = t.find(system, column);
        l.push_back(r == nullptr ? "" : times(*r, rows, t.systems.size() > 1, fair));
      }
      lines.push_back(l);
    }
    out += render(lines, s) + "\n";
    const std::string counted = counters(t, s);
    if (!counted.empty()) out += (s == style::text ? "  " : "") + counted + "\n";
  }
  out += footprint_table(rows, s);
  out += load_table(rows, s);
  return out;
}

}  // namespace scute::bench
