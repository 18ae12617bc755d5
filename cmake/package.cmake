# Installation, and find_package(d5) for others.
