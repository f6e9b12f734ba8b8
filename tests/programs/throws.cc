/* SPDX-License-Identifier: BSD-2-Clause */
/* C++: exceptions through several frames, virtual calls, templates. */
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

struct item {
	virtual ~item() = default;
	virtual int price() const = 0;
};

struct apple : item {
	int price() const override { return 3; }
};

struct broken : item {
	int price() const override { throw std::runtime_error("no price"); }
};

__attribute__((noinline)) int checked_price(const item &what)
{
	std::string guard = "destroyed while unwinding, long enough to be on the heap";

	return what.price() + (guard.empty() ? 1 : 0);
}

__attribute__((noinline)) int total(const std::vector<std::unique_ptr<item>> &basket)
{
	int sum = 0;

	for (const auto &what : basket) {
		try {
			sum += checked_price(*what);
		} catch (const std::runtime_error &) {
			sum += 100;
		}
	}
	return sum;
}

} // namespace shop

int main()
{
	std::vector<std::unique_ptr<shop::item>> basket;

	basket.push_back(std::make_unique<shop::apple>());
	basket.push_back(std::make_unique<shop::broken>());
	basket.push_back(std::make_unique<shop::apple>());
	std::printf("%d\n", shop::total(basket));
	return 0;
}
