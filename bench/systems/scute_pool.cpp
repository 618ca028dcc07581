// SPDX-License-Identifier: BSD-3-Clause
#include "systems/scute_pool.hpp"

#include <unistd.h>

#include <stdexcept>

namespace scute::bench {

void fail_with_scute_error(int rc) {
  throw std::runtime_error(std::string(scute_errorname(rc)) + ": " + scute_errormsg());
}

scute_options pool_options(const std::string& config, uint64_t size) {
  scute_options o;
  scute_options_init(&o);
  const auto dash = config.find('-');
  const std::string engine = config.substr(0, dash);
  const bool plain = engine == "plain", two = engine == "logfree2";
  must(scute_options_set(&o, "engine", plain || two ? "logfree" : engine.c_str()));
  if (plain) o.flags |= SCUTE_PLAIN_ENCODING;
  if (two) o.parity = 2;
  must(scute_options_set(&o, "protection", config.substr(dash + 1).c_str()));
  o.size = size;
  o.flags |= SCUTE_OVERWRITE;
  return o;
}

costs costs_of(scute_pool* pool) {
  scute_counters c{};
  c.struct_size = sizeof c;
  must(scute_stats(pool, &c));
  const auto d = [](uint64_t n) { return static_cast<double>(n); };
  return {d(c.fences),       d(c.lines),     d(c.bytes_data),
          d(c.bytes_parity), d(c.bytes_log), d(c.bytes_metadata)};
}

temporary_pool::temporary_pool(const std::string& path, const scute_options& o,
                               start_function start)
    : path_(path) {
  must(start(path.c_str(), &o, &pool_));
}

temporary_pool::~temporary_pool() {
  scute_close(pool_);
  ::unlink(path_.c_str());
  ::unlink((path_ + ".log").c_str());  // of engine spec, on a disk
}

void temporary_pool::close() {
  scute_pool* p = pool_;
  pool_ = nullptr;
  must(scute_close(p));
}

void temporary_pool::open() {
  scute_options o;
  scute_options_init(&o);
  must(scute_open(path_.c_str(), &o, &pool_));
}

}  // namespace scute::bench
