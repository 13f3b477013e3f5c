#!/bin/sh
exit
