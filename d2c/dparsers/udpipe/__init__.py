"""UDPipe 1's dependency parser."""
