"""Who asks the metrics endpoint and then says nothing."""
import socket
import urllib.request

from prometheus_client import CollectorRegistry, start_http_server

from robot.service.metrics_child import hang_up_on_the_slow

LIMIT_S = 30.0


def test_a_client_that_says_nothing_is_hung_up_on_and_others_are_answered(capfd):
    server, _ = start_http_server(0, "127.0.0.1", CollectorRegistry())
    hang_up_on_the_slow(server, 0.2)
    try:
        there = ("127.0.0.1", server.server_port)
        slow = [socket.create_connection(there, LIMIT_S) for _ in range(20)]
        slow[0].sendall(b"GET /metr")
        hears = f"http://127.0.0.1:{server.server_port}/metrics"
        assert urllib.request.urlopen(hears, timeout=LIMIT_S).status == 200
        assert [line.recv(64) for line in slow] == [b""] * 20
        for line in slow:
            line.close()
    finally:
        server.shutdown()
        server.server_close()
    assert "Traceback" not in capfd.readouterr().err
