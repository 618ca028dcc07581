// SPDX-License-Identifier: BSD-3-Clause
// Bar charts, written by hand: a group of bars per size, a bar per system, a whisker over the
// interquartile range. The time axis is logarithmic where the values are far apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <stdexcept>

#include "report/report.hpp"

namespace scute::bench {
namespace {

// Okabe and Ito's palette, which people with colour vision deficiencies can tell apart.
const char* color_of(size_t i) {
  static const char* const colors[] = {"#56b4e9", "#0072b2", "#009e73", "#004d3a",
                                       "#e69f00", "#999999", "#cc79a7", "#d55e00"};
  return colors[i % std::size(colors)];
}

struct chart {
  std::string work;
  unsigned threads = 1;
  std::vector<std::string> systems;
  std::vector<uint64_t> sizes;
  std::map<std::pair<std::string, uint64_t>, const row*> rows;
};

class axis {
 public:
  axis(double low, double high, double pixels) : pixels_(pixels) {
    logarithmic_ = high > 20 * low;
    if (logarithmic_) {
      low_ = std::pow(10, std::floor(std::log10(low)));
      high_ = high * 1.3;
      for (double d = low_; d < high_; d *= 10)
        for (const double f : {1.0, 2.0, 5.0})
          if (d * f < high_ && (f == 1.0 || high_ / low_ < 2000)) ticks.push_back(d * f);
    } else {
      high_ = high * 1.1;
      const double rough = high_ / 6, decade = std::pow(10, std::floor(std::log10(rough)));
      double step = decade;
      for (const double f : {1.0, 2.0, 5.0, 10.0})
        if (decade * f <= rough * 1.5) step = decade * f;
      for (int i = 0; i * step < high_; ++i) ticks.push_back(i * step);
    }
  }
  // Height above the base line.
  double of(double v) const {
    if (!logarithmic_) return v / high_ * pixels_;
    return std::max(0.0, std::log(v / low_) / std::log(high_ / low_)) * pixels_;
  }
  bool logarithmic() const { return logarithmic_; }
  std::vector<double> ticks;

 private:
  double pixels_, low_ = 0, high_ = 1;
  bool logarithmic_ = false;
};

std::string text(double x, double y, const std::string& s, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, s);
}

std::string draw(const chart& c) {
  constexpr double bar = 22, group_gap = 34, left = 84, top = 58, height = 300;
  const double group = bar * static_cast<double>(c.systems.size());
  const double width = std::max(440.0, static_cast<double>(c.sizes.size()) * (group + group_gap));
  const double right = left + width, base = top + height;
  constexpr double legend_width = 150;

  double low = 1e300, high = 0;
  for (const auto& [key, r] : c.rows) {
    low = std::min(low, r->ns_per_op);
    high = std::max(high, r->ns_per_op * (1 + r->spread / 2));
  }
  const axis y(low, high, height);

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      right + legend_width, base + 56);
  out +=
      text(left, 24, fmt::format("{}, {} thread{}", c.work, c.threads, c.threads == 1 ? "" : "s"),
           "font-size=\"16\" font-weight=\"bold\"");
  out += text(left, 42,
              fmt::format("time per operation{}; whiskers: interquartile range; lower is better",
                          y.logarithmic() ? ", logarithmic" : ""),
              "fill=\"#555\"");
  for (const double tick : y.ticks) {
    const double at = base - y.of(tick);
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", left,
        at, right, at);
    out += text(left - 8, at + 4, tick == 0 ? "0" : human_time(tick), "text-anchor=\"end\"");
  }
  for (size_t g = 0; g < c.sizes.size(); ++g) {
    const double x0 = left + group_gap / 2 + static_cast<double>(g) * (group + group_gap);
    out += text(x0 + group / 2, base + 20, human_size(c.sizes[g]), "text-anchor=\"middle\"");
    for (size_t i = 0; i < c.systems.size(); ++i) {
      const auto found = c.rows.find({c.systems[i], c.sizes[g]});
      if (found == c.rows.end()) continue;
      const row& r = *found->second;
      const double x = x0 + static_cast<double>(i) * bar, h = y.of(r.ns_per_op);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\">"
          "<title>{} {}: {} ±{:.0f}%</title></rect>\n",
          x + 1, base - h, bar - 2, h, color_of(i), c.systems[i], human_size(r.size),
          human_time(r.ns_per_op), r.spread * 50);
      const double up = base - y.of(r.ns_per_op * (1 + r.spread / 2));
      const double down = base - y.of(r.ns_per_op * std::max(0.0, 1 - r.spread / 2));
      out += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h6M{3:.1f} {2:.1f}h6\" "
          "stroke=\"black\" fill=\"none\"/>\n",
          x + bar / 2, up, down, x + bar / 2 - 3);
    }
  }
  out += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"black\"/>\n", left,
      base, right, base);
  out += text((left + right) / 2, base + 42, "size", "text-anchor=\"middle\"");
  for (size_t i = 0; i < c.systems.size(); ++i) {
    const double at = top + 10 + static_cast<double>(i) * 20;
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                       right + 20, at, color_of(i));
    out += text(right + 38, at + 10, c.systems[i]);
  }
  return out + "</svg>\n";
}

}  // namespace

std::vector<std::string> write_plots(const std::string& folder, const std::vector<row>& rows) {
  std::vector<chart> charts;
  for (const row& r : rows) {
    auto c = std::find_if(charts.begin(), charts.end(), [&](const chart& x) {
      return x.work == r.work && x.threads == r.threads;
    });
    if (c == charts.end()) {
      charts.push_back({r.work, r.threads, {}, {}, {}});
      c = charts.end() - 1;
    }
    const std::string name = r.name();
    if (std::find(c->systems.begin(), c->systems.end(), name) == c->systems.end())
      c->systems.push_back(name);
    if (std::find(c->sizes.begin(), c->sizes.end(), r.size) == c->sizes.end())
      c->sizes.push_back(r.size);
    c->rows[{name, r.size}] = &r;
  }
  std::vector<std::string> files;
  for (const chart& c : charts) {
    files.push_back(fmt::format("{}-{}t.svg", c.work, c.threads));
    std::ofstream out(folder + "/" + files.back(), std::ios::trunc);
    out << draw(c);
    out.close();
    if (!out) throw std::runtime_error("cannot write " + folder + "/" + files.back());
  }
  return files;
}

}  // namespace scute::bench
