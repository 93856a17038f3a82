// stand_in_compiler.cpp: takes a compiler's place in tests that count compiled sources.
//
//   stand_in_compiler LOG g++ ... -c source -o object -MF depfile ...
//
// follows all #include lines from the source, ignoring conditions, writes the depfile that the
// compiler would write and an empty object, and appends the source's path to LOG. Without -c it
// only creates the output, as a linker does.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Command {
  std::string source, output, depfile, target;
  std::vector<fs::path> quoted, angled;
};

Command parse(int argc, char** argv) {
  Command c;
  for (int i = 3; i < argc; ++i) {
    const std::string a = argv[i];
    auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (a == "-c") {
      c.source = next();
    } else if (a == "-o") {
      c.output = next();
    } else if (a == "-MF") {
      c.depfile = next();
    } else if (a == "-MT") {
      c.target = next();
    } else if (a == "-iquote") {
      c.quoted.emplace_back(next());
    } else if (a == "-isystem") {
      c.angled.emplace_back(next());
    } else if (a.starts_with("-I")) {
      c.angled.emplace_back(a.substr(2));
    }
  }
  return c;
}

fs::path find(const Command& c, const std::string& name, bool quoted, const fs::path& from) {
  if (quoted) {
    // Full paths occur too: unity builds use them.
    if (fs::path p = from.parent_path() / name; fs::is_regular_file(p)) return p;
    for (const fs::path& folder : c.quoted) {
      if (fs::is_regular_file(folder / name)) return folder / name;
    }
  }
  for (const fs::path& folder : c.angled) {
    if (fs::is_regular_file(folder / name)) return folder / name;
  }
  return {};
}

void follow(const Command& c, const fs::path& file, std::set<std::string>& seen) {
  if (!seen.insert(file.string()).second) return;
  std::ifstream in(file);
  if (!in) {
    std::cerr << file.string() << ": no such file\n";
    std::exit(1);
  }
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#include ")) continue;
    const bool quoted = line[9] == '"';
    const std::size_t end = line.find(quoted ? '"' : '>', 10);
    const fs::path found = find(c, line.substr(10, end - 10), quoted, file);
    if (!found.empty()) follow(c, found, seen);
  }
}

std::string escaped(const std::string& path) {
  std::string text;
  for (char ch : path) {
    if (ch == ' ' || ch == '#') text += '\\';
    text += ch;
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const Command c = parse(argc, argv);
  if (!c.source.empty()) {
    std::set<std::string> seen;
    follow(c, c.source, seen);
    if (!c.depfile.empty()) {
      std::ofstream out(c.depfile);
      out << (c.target.empty() ? c.output : c.target) << ":";
      for (const std::string& file : seen) out << " \\\n " << escaped(file);
      out << "\n";
    }
    std::ofstream(argv[1], std::ios::app) << c.source << "\n";
  }
  std::ofstream(c.output) << "";
  return 0;
}
