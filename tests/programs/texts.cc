// SPDX-License-Identifier: BSD-2-Clause
// Texts of C++: short ones, which stand in the string itself, and long ones, which do not.
#include <cstdio>
#include <string>

struct Request {
	int id;
	std::string path;
};

enum class Kind { GET = 3, PUT = 7 };

__attribute__((noinline)) static int serve(const Request &request, const std::string &peer, std::string &&moved, Kind kind,
					   const std::string *unused)
{
	__asm__ volatile("" ::"r"(&request), "r"(&peer), "r"(&moved), "r"(kind), "r"(unused) : "memory");
	return request.id;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		const Request request = {i, i % 2 ? "/short" : "/a/path/that/is/longer/than/sixteen/bytes/" + std::to_string(i)};
		const std::string peer = "10.0.0." + std::to_string(i);

		sum += serve(request, peer, std::string("moved"), i < 8 ? Kind::GET : Kind::PUT, nullptr);
	}
	printf("%d\n", sum);
	return 0;
}
