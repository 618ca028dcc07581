// SPDX-License-Identifier: BSD-3-Clause
// The plot of a campaign at rest, written by hand: a panel per protection level and error size, a
// line per number of rows, success over error rate (Pavise, Figure 12).
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace scute_campaign {

namespace {

constexpr double panel_width = 190, panel_height = 110, gap_x = 26, gap_y = 34, left = 64, top = 64;
// Of Okabe and Ito's palette, which people with colour vision deficiencies can tell apart.
constexpr const char* colors[] = {"#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#999999"};

template <typename T>
std::vector<T> sorted(const std::vector<cell_report>& reports, T cell::* which) {
  std::vector<T> all;
  for (const auto& r : reports) all.push_back(r.where.*which);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string text(double x, double y, const std::string& s, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, s);
}

struct panel {
  double x, y;
  std::vector<double> rates;

  double at_rate(double rate) const {
    if (rates.size() < 2) return x + panel_width / 2;
    const double low = std::log(rates.front()), high = std::log(rates.back());
    return x + (std::log(rate) - low) / (high - low) * panel_width;
  }
  double at_success(double fraction) const { return y + panel_height * (1 - fraction); }

  std::string frame() const {
    std::string out;
    for (const int percent : {0, 50, 100}) {
      const double at = at_success(percent / 100.0);
      out += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x,
          at, x + panel_width, at);
    }
    for (const double rate : rates)
      out += text(at_rate(rate), y + panel_height + 14, fmt::format("1e{:.0f}", std::log10(rate)),
                  "text-anchor=\"middle\" font-size=\"9\" fill=\"#555\"");
    return out;
  }
  std::string line(const std::vector<const cell_report*>& points, const char* color) const {
    std::string path, dots;
    for (const auto* p : points) {
      const double px = at_rate(p->where.rate);
      const double fraction = static_cast<double>(p->result.all_back) / p->result.trials;
      const double py = at_success(fraction);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", px, py);
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"><title>{}: {:.0f} %</title>"
          "</circle>\n",
          px, py, color, p->where.name(), fraction * 100);
    }
    return fmt::format("<path d=\"{}\" stroke=\"{}\" fill=\"none\" stroke-width=\"1.6\"/>\n", path,
                       color) +
           dots;
  }
};

}  // namespace

void write_plot(const std::string& path, const std::vector<cell_report>& reports) {
  const auto levels = sorted(reports, &cell::level);
  const auto sizes = sorted(reports, &cell::bits);
  const auto all_rows = sorted(reports, &cell::rows);
  const auto rates = sorted(reports, &cell::rate);
  const double width = left + static_cast<double>(levels.size()) * (panel_width + gap_x) + 20;
  const double height = top + static_cast<double>(sizes.size()) * (panel_height + gap_y) + 30;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  out += text(left, 24, "trials in which every object came back",
              "font-size=\"16\" font-weight=\"bold\"");
  for (size_t i = 0; i < all_rows.size(); ++i) {
    const double x = left + 330 + static_cast<double>(i) * 80;
    out += fmt::format("<rect x=\"{:.1f}\" y=\"14\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                       colors[i % std::size(colors)]);
    out += text(x + 18, 24, fmt::format("N = {}", all_rows[i]));
  }
  for (size_t l = 0; l < levels.size(); ++l)
    for (size_t b = 0; b < sizes.size(); ++b) {
      const panel p{left + static_cast<double>(l) * (panel_width + gap_x),
                    top + static_cast<double>(b) * (panel_height + gap_y), rates};
      out += p.frame();
      if (b == 0)
        out += text(p.x + panel_width / 2, p.y - 10, level_names[static_cast<size_t>(levels[l])],
                    "text-anchor=\"middle\" font-weight=\"bold\"");
      if (l == 0) {
        out += text(p.x - 8, p.at_success(1) + 4, "100 %", "text-anchor=\"end\" font-size=\"9\"");
        out += text(p.x - 8, p.at_success(0) + 4, "0", "text-anchor=\"end\" font-size=\"9\"");
        out += text(p.x - 8, p.at_success(0.5) + 4, fmt::format("{} bit", sizes[b]),
                    "text-anchor=\"end\"");
      }
      for (size_t i = 0; i < all_rows.size(); ++i) {
        std::vector<const cell_report*> points;
        for (const auto& r : reports)
          if (r.where.level == levels[l] && r.where.bits == sizes[b] &&
              r.where.rows == all_rows[i] && r.result.trials != 0)
            points.push_back(&r);
        if (!points.empty()) out += p.line(points, colors[i % std::size(colors)]);
      }
    }
  out += text(left + (width - left) / 2, height - 8, "errors per bit", "text-anchor=\"middle\"");
  std::ofstream file(path, std::ios::trunc);
  file << out << "</svg>\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace scute_campaign
