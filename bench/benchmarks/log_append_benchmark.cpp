// SPDX-License-Identifier: BSD-3-Clause
// The costs of a sequential log's redundancy (core/log/segment.hpp): records are appended to
// segments and fenced one by one, in one copy, in two copies, and in tracks. The floor is the same
// bytes stored one after the other, without frames or checksums. All take turns.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "benchmarks/benchmarks.hpp"
#include "core/log/segment_writer.hpp"
#include "core/medium/mapped_medium.hpp"
#include "random.hpp"
#include "systems/mapped_file.hpp"

namespace scute::bench {
using namespace core;
namespace {

constexpr const char* append_work = "log_append";
constexpr uint64_t segment_size = uint64_t{72} << 10;  // nine tracks of two pages
constexpr uint64_t log_size = uint64_t{16} << 20;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {append_work, "append a record to a sequential log, with a fence: one copy, two, or tracks"}};

struct variant {
  const char* config;
  std::optional<log::redundancy> how;  // none: only the stores
};
constexpr variant variants[] = {{"one-copy", log::redundancy::one_copy},
                                {"two-copies", log::redundancy::two_copies},
                                {"tracks", log::redundancy::tracks},
                                {"stores", std::nullopt}};

row row_of(const variant& v, uint64_t size) {
  row r;
  r.work = append_work;
  r.size = size;
  r.system = v.how ? "scute" : "floor";
  r.config = v.config;
  return r;
}

// A file that is a log, turned over again and again.
class contestant {
 public:
  contestant(const variant& v, const std::string& path, const std::vector<std::byte>& content)
      : what(v),
        content_(content),
        file_(path, log_size),
        medium_(map(path)),
        w_(*medium_),
        layout_(v.how.value_or(log::redundancy::one_copy), segment_size),
        log_(medium_->base(), layout_, {1, 1, 0}) {
    std::memset(file_.bytes(), 0, log_size);
  }

  void append(uint64_t size, uint64_t ops) {
    for (uint64_t i = 0; i < ops; ++i) {
      if (what.how)
        append_frame(size);
      else
        store(size);
      w_.fence(fence_site::spec_decide);
    }
  }

  const variant& what;
  std::vector<double> samples;

 private:
  static std::unique_ptr<medium::medium> map(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error("cannot open " + path);
    return medium::map_file(medium::file_handle::adopt(fd, path, log_size), SCUTE_MEDIUM_AUTO,
                            medium::access::write);
  }
  void append_frame(uint64_t size) {
    log::segment_writer::start(image_);
    std::memcpy(image_.extend(size), content_.data(), size);
    if (layout_.lines_of(image_.size()) * log::line_size > log_.room()) turn_over();
    ++sequence_;
    log_.append(w_, image_, 0, sequence_, sequence_);
  }
  void turn_over() {
    const uint64_t taken = segment_size * layout_.copies();
    if (next_ + taken > log_size) next_ = 0;
    log_.begin(w_, {{next_, next_ + segment_size}}, ++generation_, 0);
    next_ += taken;
  }
  void store(uint64_t size) {
    const uint64_t n = (size + log::line_size - 1) / log::line_size * log::line_size;
    if (next_ + n > log_size) next_ = 0;
    w_.stream(medium_->base() + next_, content_.data(), n, medium::purpose::log);
    next_ += n;
  }

  const std::vector<std::byte>& content_;
  mapped_file file_;
  std::unique_ptr<medium::medium> medium_;
  medium::writer w_;
  log::segment_layout layout_;
  log::segment_writer log_;
  byte_buffer image_;
  uint64_t next_ = 0, generation_ = 0, sequence_ = 0;
};

unsigned steps(const options& o) {
  return o.wants(append_work) ? static_cast<unsigned>(o.sizes.size()) : 0;
}

void run(session& s) {
  if (!s.o.wants(append_work)) return;
  random_source random(s.o.seed);
  std::vector<std::byte> content(uint64_t{64} << 10);
  for (std::byte& b : content) b = static_cast<std::byte>(random.next());
  for (const uint64_t size : s.o.sizes) {
    s.bar.step(fmt::format("{}, {} bytes", append_work, size));
    if (size > content.size() / 2) continue;  // no frame of a segment
    const uint64_t ops = std::max<uint64_t>(std::min<uint64_t>(s.o.ops, 40'000'000 / size), 16);
    std::vector<std::unique_ptr<contestant>> all;
    for (const variant& v : variants)
      all.push_back(std::make_unique<contestant>(v, s.path(v.config), content));
    for (unsigned round = 0; round <= s.o.rounds; ++round)
      for (size_t i = 0; i < all.size(); ++i) {
        contestant& c = *all[(i + round) % all.size()];
        const double ns = s.workers.run(1, [&](unsigned) { c.append(size, ops); });
        if (round != 0) c.samples.push_back(ns / static_cast<double>(ops));
      }
    for (const auto& c : all) {
      row r = row_of(c->what, size);
      r.ops = c->samples.size() * ops;
      summarize(r, c->samples);
      s.rows.push_back(r);
    }
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants(append_work)) return;
  for (const uint64_t size : o.sizes)
    if (size <= uint64_t{32} << 10)
      for (const variant& v : variants) rows.push_back(row_of(v, size));
}

}  // namespace

benchmark_group log_append_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
