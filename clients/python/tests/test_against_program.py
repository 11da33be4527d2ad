"""Tests of the client against a running `avocet run`.

The Rust test `the_python_client_speaks_with_the_program` starts the program and sets AVOCET_ADDRESS,
AVOCET_TOKEN and AVOCET_SITE, the home page of a site with the pages 0 to 11 that have the word
"everywhere".
"""

import os
import time
import unittest

from avocet_client import Avocet, AvocetError

ADDRESS = os.environ["AVOCET_ADDRESS"]
SITE = os.environ["AVOCET_SITE"]


class AgainstProgram(unittest.TestCase):
    def setUp(self) -> None:
        self.avocet = Avocet(ADDRESS)
        self.operator = Avocet(ADDRESS, token=os.environ["AVOCET_TOKEN"])

    def test_search_finds_pages_and_reads_them(self) -> None:
        answer = self.avocet.search("everywhere", limit=5, facets=True)
        self.assertEqual(len(answer), 5)
        self.assertGreater(answer.total, 10)
        self.assertIsNotNone(answer.facets)
        everything = list(self.avocet.search_all("everywhere"))
        self.assertEqual(len(everything), answer.total)
        self.assertEqual(len({hit.url for hit in everything}), answer.total)
        hit = self.avocet.search("page5").hits[0]
        self.assertEqual(hit.url, f"{SITE}5")
        page = self.avocet.page(hit.url)
        self.assertEqual(page.title, "page 5")
        self.assertIn("page5", page.text)

    def test_filters_and_errors(self) -> None:
        self.assertEqual(self.avocet.search("everywhere", site="elsewhere.example").total, 0)
        future = self.avocet.search("everywhere", since="2999-01-01T00:00:00Z")
        self.assertEqual(future.total, 0)
        with self.assertRaises(AvocetError) as raised:
            self.avocet.search("everywhere", limit=1000)
        self.assertEqual((raised.exception.status, raised.exception.reason), (400, "parameter"))
        with self.assertRaises(AvocetError) as raised:
            self.avocet.page("http://nowhere.example/")
        self.assertEqual(raised.exception.status, 404)

    def test_changes_continue_where_the_last_ones_ended(self) -> None:
        some = self.avocet.changes(limit=3)
        self.assertEqual([change.change for change in some], ["new"] * 3)
        rest = self.avocet.changes(some[-1].number)
        self.assertGreater(len(rest), 5)
        self.assertGreater(rest[0].number, some[-1].number)

    def test_sites_and_status(self) -> None:
        site = self.avocet.sites()[0]
        self.assertIn(site.host, SITE)
        self.assertGreaterEqual(site.pages, 12)
        self.assertEqual(self.avocet.sites("no-such-name"), [])
        self.assertTrue(self.avocet.status()["running"])
        self.assertEqual(self.avocet.explain(SITE)["url"], SITE)

    def test_controls_need_the_token(self) -> None:
        with self.assertRaises(AvocetError) as raised:
            self.avocet.pause()
        self.assertEqual((raised.exception.status, raised.exception.reason), (401, "token"))
        self.assertTrue(self.operator.pause()["changed"])
        self.assertTrue(self.operator.resume()["changed"])
        self.operator.set_budget("49/s")
        self.assertTrue(self.operator.block("blocked.example")["changed"])
        self.assertTrue(self.operator.unblock("blocked.example")["changed"])
        self.assertEqual(self.operator.report("duplicates"), [])

    def test_a_crawl_is_extended(self) -> None:
        extended = self.operator.crawl([f"{SITE}more"])
        self.assertTrue(extended["changed"], extended)
        for _ in range(200):
            found = self.avocet.search("onlyhere")
            if found.total == 1:
                break
            time.sleep(0.2)
        self.assertEqual([hit.url for hit in found], [f"{SITE}more"])


if __name__ == "__main__":
    unittest.main()
