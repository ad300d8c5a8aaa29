# Untested: this script has not been run in Vivado, and no result in this repository is from it.
#
# Synthesizes, places and routes a top out of context (no pins), and reports area and timing.
#
#     vivado -mode batch -source rtl/syn/vivado/build.tcl -tclargs TOP [PART] [PERIOD] [PARAMETER=VALUE ...]
#
#   TOP        a file list of rtl/filelists, without .f, which is also its top module
#   PART       default xc7vx690tffg1761-3; for UltraScale+ for example xcvu9p-flga2104-2-i
#   PERIOD     clock period in ns, default 4.0
#   PARAMETER  of the top module, such as KEYS=0; requires PART and PERIOD
#
# Reports go to target/vivado/TOP.

proc fail {message} {
    puts stderr $message
    exit 1
}

if {[llength $argv] < 1} {
    fail "usage: ... -tclargs TOP \[PART\] \[PERIOD\] \[PARAMETER=VALUE ...\]"
}
set top [lindex $argv 0]
set part [expr {[llength $argv] > 1 ? [lindex $argv 1] : "xc7vx690tffg1761-3"}]
set period [expr {[llength $argv] > 2 ? [lindex $argv 2] : 4.0}]
set parameters [lrange $argv 3 end]

set rtl [file normalize [file join [file dirname [info script]] .. ..]]
set list_name [file join $rtl filelists $top.f]
if {![file exists $list_name]} {
    fail "file list $list_name not found"
}
set list_file [open $list_name]
set sources [list]
foreach source [read $list_file] {
    lappend sources [file join $rtl $source]
}
close $list_file

set out [file join [file dirname $rtl] target vivado $top]
file mkdir $out

read_verilog -sv $sources

set options [list -top $top -part $part -mode out_of_context -flatten_hierarchy rebuilt]
foreach parameter $parameters {
    lappend options -generic $parameter
}
synth_design {*}$options
create_clock -name clk -period $period [get_ports clk]

opt_design
place_design
phys_opt_design
route_design

report_utilization -file [file join $out utilization.rpt]
report_utilization -hierarchical -file [file join $out hierarchy.rpt]
report_timing_summary -file [file join $out timing.rpt]
write_checkpoint -force [file join $out routed.dcp]

set slack [get_property SLACK [get_timing_paths -setup]]
puts [format "%s on %s: slack %.3f ns at %.3f ns, that is %.1f MHz" \
    $top $part $slack $period [expr {1000.0 / ($period - $slack)}]]
